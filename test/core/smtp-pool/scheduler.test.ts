import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { ReplyOrFault, SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { askUntilAnswered } from "./cluster.ts";

type Server = (line: string, session: number) => string;

const replyOf = (text: string): ReplyOrFault => {
  const [reply] = createReplyReader()(Buffer.from(`${text}\r\n`));
  return reply ?? "closed";
};

/** A mail server as a function from line to reply; it counts what is asked of it, and by how many at once. */
const givenServer = (rcpt: Server, greeting = "220 hi", turnMs = 0, clock?: () => Date) => {
  const { world, later, table } = givenWorld();
  const asked: string[] = [];
  let sessions = 0;
  let open = 0;
  let peak = 0;
  const startedAt: number[] = [];

  const talkedTo: string[] = [];
  const connect: SmtpConnect = async ({ host }) => {
    if (host === "mx.broken.example") throw new Error("a bug of ours");
    if (host === "mx.down.example") return "connect_refused";
    talkedTo.push(host);
    const session = ++sessions;
    peak = Math.max(peak, ++open);
    startedAt.push(world.now().getTime());
    let next = greeting;
    let hungUp = false;
    return {
      send: (line) => {
        if (line.startsWith("RCPT")) asked.push(line);
        next = line.startsWith("RCPT") ? rcpt(line, session) : "250 ok";
      },
      receive: async () => {
        if (turnMs > 0) await world.sleep(turnMs);
        return next === "" ? "closed" : replyOf(next);
      },
      startTls: async () => "tls_failed",
      close: async () => {
        if (!hungUp) open--;
        hungUp = true;
      },
    };
  };
  const catchAllCache = createCatchAllCache(table, world.now);
  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const probe = createProbe({
    ...world,
    connect,
    catchAllCache,
    smtp,
    ...(clock && { now: clock }),
  });
  return {
    probe,
    asked,
    later,
    world,
    talkedTo,
    catchAllCache,
    startedAt,
    sessions: () => sessions,
    peak: () => peak,
  };
};

const HOSTS: readonly MailHost[] = [{ host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] }];
const ask = (local: string, domain = "example.com", hosts = HOSTS) => ({
  recipient: `${local}@${domain}`,
  domain,
  hosts,
  probeCatchAll: true,
});
const recipients = (count: number) => Array.from({ length: count }, (_row, n) => ask(`person${n}`));
const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;
const rejectsUnknownRecipients: Server = (line) =>
  RANDOM_RECIPIENT.test(line) ? "550 5.1.1 no such user" : "250 ok";

test("addresses that arrive together share one session and one random recipient", async () => {
  const { probe, asked, sessions } = givenServer(rejectsUnknownRecipients);

  const answers = await Promise.all(recipients(20).map(probe));

  expect(answers.map(({ finding }) => finding.verdict)).toEqual(Array(20).fill("valid"));
  expect(new Set(answers.map(({ catchAll }) => catchAll))).toEqual(new Set(["no"]));
  expect(sessions()).toBe(1);
  expect(asked.filter((line) => RANDOM_RECIPIENT.test(line))).toHaveLength(1);
  expect(asked[0]).toBe("RCPT TO:<person0@example.com>");
});

test("a thousand addresses at one server open at most its ten connections, and few sessions in total", async () => {
  const { probe, sessions, peak } = givenServer(rejectsUnknownRecipients);

  await Promise.all(recipients(1_000).map(probe));

  expect(peak()).toBeLessThanOrEqual(10);
  expect(sessions()).toBeLessThanOrEqual(60);
});

test("domains at one server share sessions, and each uses its own random recipient", async () => {
  const { probe, asked, sessions } = givenServer(rejectsUnknownRecipients);

  await Promise.all(
    ["a.example", "b.example", "c.example"].map((domain) => probe(ask("ann", domain))),
  );

  expect(sessions()).toBe(1);
  expect(asked.filter((line) => RANDOM_RECIPIENT.test(line))).toHaveLength(3);
});

test("the engine stores a catch-all, and asks about no random recipient again within a day", async () => {
  const { probe, asked, catchAllCache } = givenServer(() => "250 ok");
  await probe(ask("ann"));

  const second = await probe(ask("bob"));

  expect(second.catchAll).toBe("yes");
  expect(asked.filter((line) => RANDOM_RECIPIENT.test(line))).toHaveLength(1);
  expect(await catchAllCache.find("example.com", "")).toMatchObject({ acceptsEveryone: true });
});

test.each<[string, string]>([
  ["a deferred random recipient", "451 4.3.0 later"],
  [
    "a random recipient refused because of our IP address",
    "550 5.7.1 your IP is blocked using spamhaus",
  ],
  ["a random recipient whose reply is lost", ""],
])("%s proves nothing, and the engine stores nothing", async (_, reply) => {
  const { probe, catchAllCache } = givenServer((line) =>
    RANDOM_RECIPIENT.test(line) ? reply : "250 ok",
  );

  expect((await probe(ask("ann"))).catchAll).toBe("undecided");
  expect(await catchAllCache.find("example.com", "")).toMatchObject({ acceptsEveryone: false });
});

test("a 421 pauses the server for half a minute, and then one session asks about the other addresses", async () => {
  const { probe, startedAt, world } = givenServer((line, session) =>
    session === 1 && line.includes("person2")
      ? "421 4.7.0 too busy"
      : rejectsUnknownRecipients(line, session),
  );

  const answers = await Promise.all(
    recipients(5).map((one) => askUntilAnswered(probe, world, one)),
  );

  expect(new Set(answers.map(({ finding }) => finding.verdict))).toEqual(new Set(["valid"]));
  const [first = 0, second = 0, ...more] = startedAt;
  expect(second - first).toBeGreaterThanOrEqual(30_000);
  expect(more).toEqual([]);
});

test("the first reply about us returns all waiting recipients within a second, with the end of the backoff", async () => {
  const { probe, sessions, world } = givenServer(
    () => "421 4.7.1 Too many connections from 192.0.2.1",
  );
  const startMs = world.now().getTime();

  const answers = await Promise.all(recipients(20).map(probe));
  const later = await Promise.all(recipients(5).map(probe));

  expect(world.now().getTime() - startMs).toBeLessThan(1_000);
  expect(sessions()).toBe(1);
  // The reply is the first one's own.
  for (const { comeBack } of [...answers.slice(1), ...later]) {
    expect(comeBack?.reason).toBe("rate_limited");
    expect(Date.parse(comeBack?.at ?? "") - startMs).toBeGreaterThanOrEqual(30_000);
    expect(Date.parse(comeBack?.at ?? "") - startMs).toBeLessThan(31_000);
  }
});

test("a waiting recipient learns nothing about another account's recipient when the server turns us away", async () => {
  const { probe } = givenServer((line) => `421 4.7.0 Too many errors after ${line.slice(8)}`);
  const of = (account: string) => ({
    ...ask(`secret-${account}`),
    requester: { account, priority: "list" } as const,
  });

  const [, waiting] = await Promise.all([probe(of("ann")), probe(of("bo"))]);

  expect(waiting.reply?.code).toBe(421);
  expect(JSON.stringify(waiting)).not.toContain("secret-ann");
});

test("the engine uses another connection for a recipient that a connection's limit refuses", async () => {
  let count = 0;
  const { probe, sessions } = givenServer((line, session) => {
    if (RANDOM_RECIPIENT.test(line)) return "550 5.1.1 no such user";
    if (session === 1 && ++count > 2) return "452 4.5.3 too many recipients";
    return "250 ok";
  });

  const answers = await Promise.all(recipients(5).map(probe));

  expect(new Set(answers.map(({ finding }) => finding.verdict))).toEqual(new Set(["valid"]));
  expect(sessions()).toBe(2);
});

test("every address at a server that always hangs up becomes unknown after a limited number of sessions", async () => {
  const { probe, sessions } = givenServer(() => "");

  const answers = await Promise.all(recipients(4).map(probe));

  expect(new Set(answers.map(({ finding }) => finding.verdict))).toEqual(new Set(["unknown"]));
  expect(sessions()).toBeLessThanOrEqual(8);
});

test("a server that refuses the connection proves nothing about any mailbox", async () => {
  const { probe } = givenServer(() => "250 ok", "554 5.7.1 go away");

  const answers = await Promise.all(recipients(3).map(probe));

  expect(new Set(answers.map(({ finding }) => finding.verdict))).toEqual(new Set(["unknown"]));
});

const host = (name: string, ip: string, priority = 10): MailHost => ({
  host: name,
  priority,
  ips: [ip],
});

test("the engine never asks a domain's second host when the first belongs to another domain", async () => {
  const { probe, talkedTo } = givenServer(() => "550 5.1.1 no such user");
  const victim = [host("mx.down.example", "192.0.2.1")];
  const attacker = [...victim, host("mx.evil.example", "192.0.2.66", 20)];

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_row, n) =>
      probe(
        n % 2 ? ask(`v${n}`, "victim.example", victim) : ask(`e${n}`, "evil.example", attacker),
      ),
    ),
  );

  const victims = answers.filter((_, n) => n % 2 === 1);
  expect(new Set(victims.map(({ finding }) => finding.verdict))).toEqual(new Set(["unknown"]));
  expect(new Set(talkedTo)).toEqual(new Set(["mx.evil.example"]));
});

test("one mail provider gets no more connections under many names than under one", async () => {
  const { probe, peak } = givenServer(rejectsUnknownRecipients);
  const tenants = Array.from({ length: 100 }, (_row, n) => {
    const name = `t${n}-example.mail.protection.outlook.com`;
    return ask("ann", `t${n}.example`, [host(name, `192.0.2.${n}`)]);
  });
  const vanity = Array.from({ length: 100 }, (_row, n) =>
    ask("ann", `v${n}.example`, [host(`mx.v${n}.example`, "198.51.100.7")]),
  );

  await Promise.all(tenants.map(probe));
  expect(peak()).toBeLessThanOrEqual(5);
  await Promise.all(vanity.map(probe));
  expect(peak()).toBeLessThanOrEqual(10);
});

test("a server that always replies 421 gets a few sessions, and then every address gets a result", async () => {
  const { probe, sessions, world } = givenServer(() => "421 4.7.0 too busy");
  const began = world.now().getTime();

  const answers = await Promise.all(recipients(200).map(probe));

  expect(new Set(answers.map(({ finding }) => finding.verdict))).toEqual(new Set(["unknown"]));
  expect(sessions()).toBeLessThanOrEqual(40);
  expect(world.now().getTime() - began).toBeLessThan(30 * 60_000);
});

const EARLY_MS = 5;

test("a backoff ends even if its timer fires before the clock reaches that time", async () => {
  let reads = 0;
  const server = givenServer(
    (line, session) =>
      session === 1 ? "421 4.7.0 too busy" : rejectsUnknownRecipients(line, session),
    "220 hi",
    0,
    () => new Date(server.world.now().getTime() - (reads++ % 2) * EARLY_MS),
  );
  const { probe, sessions, world } = server;

  const answers = await Promise.all(
    recipients(3).map((one) => askUntilAnswered(probe, world, one)),
  );

  expect(answers.map(({ finding }) => finding.verdict)).toEqual(["unknown", "valid", "valid"]);
  expect(sessions()).toBeGreaterThan(1);
});

test("a bug of ours makes every address unknown, and the engine runs the next probe as usual", async () => {
  const { probe } = givenServer(rejectsUnknownRecipients);
  const broken = [host("mx.broken.example", "192.0.2.9")];

  const answers = await Promise.all([
    probe(ask("a", "b.example", broken)),
    probe(ask("c", "b.example", broken)),
  ]);

  expect(answers.map(({ finding }) => finding.reason)).toEqual(["internal", "internal"]);
  expect((await probe(ask("ann"))).finding.verdict).toBe("valid");
});

test("every address at a server that hangs up after one recipient gets a result, one by one", async () => {
  const seen = new Map<number, number>();
  const { probe } = givenServer((_line, session) => {
    const count = (seen.get(session) ?? 0) + 1;
    seen.set(session, count);
    return count === 1 ? "550 5.1.1 no such user" : "";
  });

  const answers = await Promise.all(recipients(6).map(probe));

  expect(
    answers.filter(({ finding }) => finding.verdict === "invalid").length,
  ).toBeGreaterThanOrEqual(5);
});

test.each([
  "550 <probe@example.org>: user unknown",
  "550 probe@example.org does not exist",
  "550 5.1.2 example.org: domain not found",
])("a refusal that names our own sender proves nothing about the mailbox: %s", async (reply) => {
  const { probe } = givenServer(() => reply);

  expect((await probe(ask("ann"))).finding).toMatchObject({
    verdict: "unknown",
    reason: "sender_rejected",
  });
});

test("a refusal of our sender's policy returns one reason, with or without the sender's name", async () => {
  const texts = ["550 5.7.23 SPF fail for <probe@example.org>", "550 5.7.23 SPF fail"];
  const reasons = texts.map(async (reply) => {
    const { probe } = givenServer(() => reply);
    return (await probe(ask("ann"))).finding.reason;
  });

  expect(await Promise.all(reasons)).toEqual(["sender_auth_failed", "sender_auth_failed"]);
});

test("the results blame our network, and not each server, when no server can be reached", async () => {
  const { world, table } = givenWorld();
  const catchAllCache = createCatchAllCache(table, world.now);
  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const connect: SmtpConnect = async () => "connect_timeout";
  const probe = createProbe({ ...world, connect, catchAllCache, smtp });
  const reasons: string[] = [];
  for (let n = 1; n <= 7; n++) {
    const { finding } = await probe(
      ask("ann", `d${n}.example`, [host(`mx${n}.example`, `93.184.216.${n}`)]),
    );
    reasons.push(`${finding.verdict} ${finding.reason}`);
  }

  expect(reasons.slice(0, 4)).toEqual(Array(4).fill("unknown connect_failed"));
  expect(reasons.slice(4)).toEqual(Array(3).fill("unknown no_smtp_egress"));
});

test("the engine asks all of many servers, and never opens more sessions than its limit", async () => {
  const { probe, peak } = givenServer(rejectsUnknownRecipients, "220 hi", 100);
  const questions = Array.from({ length: 700 }, (_row, n) =>
    ask("ann", `d${n}.example`, [host(`mx${n}.example`, `10.${n >> 8}.${n & 255}.1`)]),
  );

  const answers = await Promise.all(questions.map(probe));

  expect(answers.every(({ finding }) => finding.verdict === "valid")).toBe(true);
  expect(peak()).toBe(504);
});
