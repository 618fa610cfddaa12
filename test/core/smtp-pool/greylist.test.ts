import { fingerprint } from "@mailproof/core/lib/fingerprint";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import type { Probe, ProbeResult } from "@mailproof/core/smtp-pool/probe";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { ReplyOrFault, SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { hostAt } from "./cluster.ts";

// Goal: a person whose server greylists is valid at the second attempt, though the random recipient is greylisted, too.
// Method: a server that keeps triplets of exit, sender and recipient, as postgrey does, and processes with nothing in
// common but the table. No time passes in truth.

const MINUTE_MS = 60_000;
const DELAY_MS = 5 * MINUTE_MS;
const RETRY_MS = 6 * MINUTE_MS;
const HOSTS = [hostAt("mx.example.com")];
const RANDOM = /^[a-z][a-z0-9]{19}@/;

const replyOf = (text: string): ReplyOrFault =>
  createReplyReader()(Buffer.from(`${text}\r\n`))[0] ?? "closed";

type Server = {
  /** The server's reply to a recipient that is not greylisted any more. */
  readonly knows?: (recipient: string) => boolean;
  /** False: it refuses unknown recipients first, as Postfix does with reject_unlisted_recipient before postgrey. */
  readonly greylistsAll?: boolean;
  readonly deferral?: string;
  readonly exitOf?: (affinityKey: string) => string;
};

const givenServer = ({
  knows = (recipient) => !RANDOM.test(recipient),
  greylistsAll = true,
  deferral = "450 4.2.0 Greylisted, see you in five minutes",
  exitOf = () => "192.0.2.25",
}: Server = {}) => {
  const { world, table, later } = givenWorld();
  const seen = new Map<string, number>();
  const randomRecipients = new Set<string>();
  const answer = (exit: string, sender: string, recipient: string): string => {
    if (RANDOM.test(recipient)) randomRecipients.add(recipient);
    const exists = knows(recipient);
    if (!exists && !greylistsAll) return "550 5.1.1 User unknown";
    const triplet = `${exit} ${sender} ${recipient}`;
    const atMs = world.now().getTime();
    const firstMs = seen.get(triplet) ?? atMs;
    seen.set(triplet, firstMs);
    if (atMs - firstMs < DELAY_MS) return deferral;
    return exists ? "250 2.1.5 Ok" : "550 5.1.1 User unknown";
  };
  const connect: SmtpConnect = async (_target, { affinityKey }) => {
    let next = "220 hi";
    let sender = "";
    return {
      send: (line) => {
        const [, verb = "", path = ""] = /^(MAIL|RCPT) \w+:<(.*)>/.exec(line) ?? [];
        if (verb === "MAIL") sender = path;
        next = verb === "RCPT" ? answer(exitOf(affinityKey), sender, path) : "250 ok";
      },
      receive: async () => replyOf(next),
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  /** Another process, which remembers nothing. */
  const process = (): Probe =>
    createProbe({
      ...world,
      connect,
      catchAllCache: createCatchAllCache(table, world.now),
      smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
    });
  return { process, later, world, table, randomRecipients };
};

const ask = (probe: Probe, recipient: string, hosts: readonly MailHost[] = HOSTS) =>
  probe({ recipient, domain: recipient.split("@")[1] ?? "", hosts, probeCatchAll: true });

const replies = ({ finding, catchAll }: ProbeResult): string => `${finding.verdict} ${catchAll}`;

test.each<[string, Server, string, string]>([
  ["knows its people", {}, "unknown undecided", "valid no"],
  ["accepts everybody", { knows: () => true }, "unknown undecided", "valid yes"],
  ["refuses unknown recipients at once", { greylistsAll: false }, "unknown no", "valid no"],
  ["greylists with 451 alone", { deferral: "451 Come back" }, "unknown undecided", "valid no"],
  [
    "greylists with 450 4.7.1",
    { deferral: "450 4.7.1 <x>: Client host rejected: Greylisted" },
    "unknown undecided",
    "valid no",
  ],
])(
  "the second attempt at a server that greylists and %s returns a verdict",
  async (_, server, first, second) => {
    const { process, later, randomRecipients } = givenServer(server);

    expect(replies(await ask(process(), "ann@example.com"))).toBe(first);
    later(RETRY_MS);
    expect(replies(await ask(process(), "ann@example.com"))).toBe(second);

    // One that is refused at once is no use for the second attempt.
    expect(randomRecipients.size).toBe(first === "unknown no" ? 2 : 1);
  },
);

test("the second attempts of a thousand people in separate processes each use the first's random recipient", async () => {
  const { process, later } = givenServer();
  const persons = Array.from({ length: 1_000 }, (_, n) => `person${n}@example.com`);
  const [one, other] = [process(), process()];
  await Promise.all(persons.map((person, n) => ask(n % 2 ? one : other, person)));
  later(RETRY_MS);

  const [third, fourth] = [process(), process()];
  const answers = await Promise.all(
    persons.map((person, n) => ask(n % 2 ? third : fourth, person)),
  );

  expect([...new Set(answers.map(replies))]).toEqual(["valid no"]);
});

test("the stored random recipient may expire between the attempts at two people", async () => {
  const { process, later } = givenServer();
  await ask(process(), "zoe@example.com");
  later(RETRY_MS);
  expect(replies(await ask(process(), "zoe@example.com"))).toBe("valid no");
  later(24 * 60 * MINUTE_MS - 2 * MINUTE_MS);

  expect(replies(await ask(process(), "ann@example.com"))).toBe("unknown undecided");
  later(RETRY_MS);
  expect(replies(await ask(process(), "ann@example.com"))).toBe("valid no");
});

const domains = Array.from({ length: 24 }, (_, n) => `d${n}.example`);

test("sessions for domains that share a server always leave from one address", async () => {
  const exits = new Set<string>();
  const exitOf = (affinityKey: string): string => {
    const exit = `exit ${fingerprint(affinityKey).charCodeAt(0) % 5}`;
    exits.add(exit);
    return exit;
  };
  const { process, later } = givenServer({ exitOf });
  const all = (probe: Probe, names: readonly string[]) =>
    Promise.all(names.map((domain) => ask(probe, `ann@${domain}`)));
  await all(process(), domains);
  later(RETRY_MS);

  const answers = await all(process(), ["new.example", ...domains.toReversed()]);

  expect([...new Set(answers.slice(1).map(replies))]).toEqual(["valid no"]);
  expect(exits.size).toBe(1);
});

test("the table stores a random recipient for its domain alone, and for a day", async () => {
  const { process, later, table, randomRecipients } = givenServer();
  await ask(process(), "ann@example.com");
  await ask(process(), "ann@example.org");

  const stored = table.items().map(({ pk, randomRecipient }) => [pk, randomRecipient]);
  expect(stored).toEqual([...randomRecipients].map((one) => [`DOMAIN#${one.split("@")[1]}`, one]));
  later(25 * 60 * MINUTE_MS);
  await ask(process(), "bob@example.com");
  expect(randomRecipients.size).toBe(3);
});

test("the session asks about no random recipient after a full or refused mailbox", async () => {
  for (const deferral of ["452 4.2.2 Mailbox full", "550 5.1.1 User unknown"]) {
    const { process, randomRecipients } = givenServer({ deferral });

    await ask(process(), "ann@example.com");

    expect(randomRecipients.size).toBe(0);
  }
});

test("every address gets its result when the table stores nothing", async () => {
  const { process, later, table } = givenServer();
  table.write = async () => ({ outcome: "ambiguous" });
  await ask(process(), "ann@example.com");
  later(RETRY_MS);

  expect(replies(await ask(process(), "ann@example.com"))).toBe("valid undecided");
});
