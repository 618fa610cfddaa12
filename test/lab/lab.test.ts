import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { createEngine } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { getPeople } from "@mailproof/lab/companies";
import { allDomains } from "@mailproof/lab/domains";
import type { RecipientRequest } from "@mailproof/lab/host-behavior";
import { LAB_ZONE, type Lab, type LabOptions, startLab } from "@mailproof/lab/lab";
import { buildNetwork } from "@mailproof/lab/network";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, createResolver, dial, findMailHosts } from "../servers/smtp-client.ts";

let lab: Lab;
let now = new Date("2026-01-01T00:00:00Z");
beforeAll(async () => {
  lab = await startLab({ companies: 60, slowMs: 50, now: () => now });
});
afterAll(() => lab.close());

const getDomain = (name: string) => `${name}.lab.mailproof.test`;
const getHost = async (name: string) => (await findMailHosts(lab, getDomain(name))).at(0) ?? "";
const askAt = async (name: string, ...locals: readonly string[]) =>
  converse(
    lab,
    await getHost(name),
    locals.map((local) => `${local}@${getDomain(name)}`),
  );

test.each([
  ["greylist", "450 4.2.0", 5],
  ["greylist451", "451", 4],
])("the host %s defers with %s until %i minutes have passed", async (name, reply, minutes) => {
  const first = await askAt(name, "ada.lovelace");
  now = new Date(now.getTime() + minutes * 60_000 - 1);
  const tooSoon = await askAt(name, "ada.lovelace");
  now = new Date(now.getTime() + 1);
  const later = await askAt(name, "ada.lovelace", "grace.hopper");

  expect([first[2], tooSoon[2]].map((one) => one?.startsWith(reply))).toEqual([true, true]);
  expect(later[2]).toMatch(/^250 /);
  expect(later[3]?.startsWith(reply)).toBe(true);
});

test("the host toomany takes two recipients per connection and no more after RSET", async () => {
  const replies = await askAt("toomany", "ada.lovelace", "alan.turing", "grace.hopper");

  expect(replies.slice(2)).toEqual([
    expect.stringMatching(/^250/),
    expect.stringMatching(/^250/),
    expect.stringMatching(/^452 4\.5\.3 /),
  ]);
});

test("the host ratelimited ends the session at the third recipient", async () => {
  const replies = await askAt(
    "ratelimited",
    "ada.lovelace",
    "nobody",
    "grace.hopper",
    "alan.turing",
  );

  expect(replies.slice(4)).toEqual([expect.stringMatching(/^421 4\.7\.0 /), ""]);
});

test("the host ratelimited greets the fifth concurrent session with 421", async () => {
  const host = await getHost("ratelimited");
  const open = await Promise.all([1, 2, 3, 4].map(() => dial(host, lab.smtpPort)));
  const greetings = await Promise.all(open.map((client) => client.reply()));
  const fifth = await dial(host, lab.smtpPort);

  expect(greetings.every((greeting) => greeting.startsWith("220"))).toBe(true);
  expect(await fifth.reply()).toMatch(/^421 4\.7\.0 /);
  for (const client of [...open, fifth]) client.close();
});

test("a host refuses commands out of order, and accepts no message", async () => {
  const client = await dial(await getHost("valid"), lab.smtpPort);
  await client.reply();

  expect(await client.say("MAIL FROM:<a@b.example>")).toMatch(/^503 /);
  expect(await client.say("EHLO me")).toMatch(/^250-[\s\S]*\r\n250 /);
  expect(await client.say("RCPT TO:<a@b.example>")).toMatch(/^503 /);
  expect(await client.say("MAIL FROM:a@b.example")).toMatch(/^501 /);
  expect(await client.say("mail from:<>")).toMatch(/^250 /);
  expect(await client.say("MAIL FROM:<a@b.example>")).toMatch(/^503 /);
  expect(await client.say("RCPT TO:<no at>")).toMatch(/^501 /);
  expect(await client.say("DATA")).toMatch(/^554 /);
  expect(await client.say("RSET")).toMatch(/^250 /);
  expect(await client.say("RCPT TO:<a@b.example>")).toMatch(/^503 /);
  expect(await client.say("VRFY ada")).toMatch(/^252 /);
  expect(await client.say("NONSENSE")).toMatch(/^500 /);
  expect(await client.say("QUIT")).toMatch(/^221 /);
  expect(await client.reply()).toBe("");
});

test("a host answers pipelined commands in order, even when packets cut them anywhere", async () => {
  const batch = `EHLO me\r\nMAIL FROM:<a@b.example> SMTPUTF8\r\nRCPT TO:<zoë.müller@${getDomain("smtputf8")}>\r\nRCPT TO:<nobody@${getDomain("smtputf8")}>\r\n`;
  const client = await dial(await getHost("smtputf8"), lab.smtpPort);
  for (const byte of Buffer.from(batch)) {
    client.send(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  const codes: string[] = [];
  for (let count = 0; count < 5; count += 1) codes.push((await client.reply()).slice(0, 3));

  expect(codes).toEqual(["220", "250", "250", "250", "550"]);
  client.close();
});

test("a host answers commands that arrive together after one round trip", async () => {
  const own = await startLab({ companies: 0, replyMs: 40 });
  const [host = ""] = await findMailHosts(own, getDomain("valid"));
  const rcpt = `RCPT TO:<ada.lovelace@${getDomain("valid")}>`;
  const [pipelining, oneByOne] = await Promise.all([1, 2].map(() => dial(host, own.smtpPort)));
  const finished: string[] = [];
  const open = async (client: NonNullable<typeof pipelining>) => {
    await client.reply();
    await client.say("EHLO me");
    await client.say("MAIL FROM:<a@b.example>");
  };
  const pipeline = async (client: NonNullable<typeof pipelining>) => {
    await open(client);
    client.send(`${rcpt}\r\n`.repeat(40));
    for (let count = 0; count < 40; count += 1) expect(await client.reply()).toMatch(/^250/);
    finished.push("forty together");
  };
  const takeTurns = async (client: NonNullable<typeof pipelining>) => {
    await open(client);
    for (let count = 0; count < 10; count += 1) expect(await client.say(rcpt)).toMatch(/^250/);
    finished.push("ten one by one");
  };
  if (pipelining && oneByOne) await Promise.all([pipeline(pipelining), takeTurns(oneByOne)]);
  pipelining?.close();
  oneByOne?.close();
  await own.close();

  expect(finished).toEqual(["forty together", "ten one by one"]);
});

test("a host ends a session at a line without end", async () => {
  const client = await dial(await getHost("valid"), lab.smtpPort);
  await client.reply();
  client.send("x".repeat(10_000));

  expect(await client.reply()).toMatch(/^500 /);
  client.close();
});

test("a company employs the same people in every run", () => {
  expect(
    getPeople("c0007.companies.lab.mailproof.test")
      .map(({ local }) => local)
      .slice(0, 3),
  ).toEqual(
    getPeople("c0007")
      .map(({ local }) => local)
      .slice(0, 3),
  );
  expect(getPeople("example.com")).toEqual([]);
});

test("a lab serves 1,000 sessions at a time and loses none", async () => {
  // Slow enough that all of them stand open at once, on a busy machine as well.
  const own = await startLab({ companies: 0, replyMs: 150 });
  const [host = ""] = await findMailHosts(own, getDomain("valid"));
  const to = [`ada.lovelace@${getDomain("valid")}`, `nobody@${getDomain("valid")}`];
  const all = await Promise.all(Array.from({ length: 1_000 }, () => converse(own, host, to)));
  const stats = own.stats();
  await own.close();

  expect(all.filter(([, , ada]) => ada?.startsWith("250"))).toHaveLength(1_000);
  expect(all.filter(([, , , missingReply]) => missingReply?.startsWith("550"))).toHaveLength(1_000);
  expect(stats).toMatchObject({ sessions: 1_000, recipients: 2_000 });
  expect(stats.peakSessionsPerHost[`mx.${getDomain("valid")}`]).toBeGreaterThan(200);
  expect(stats.commands).not.toHaveProperty("DATA");
});

test("a lab uses another zone name on request, and two labs run side by side", async () => {
  const own = await startLab({ companies: 3, zone: "Lab.Example" });
  const [host = ""] = await findMailHosts(own, "valid.lab.example");

  expect((await converse(own, host, ["ada.lovelace@valid.lab.example"])).at(-1)).toMatch(/^250 /);
  expect(own.smtpPort).not.toBe(lab.smtpPort);
  await own.close();
});

// A timer or socket that was forgotten keeps the program alive, and this waits for its end.
test("a lab lets its program end once it is closed", async () => {
  const program = `
    import { once } from "node:events";
    import { connect } from "node:net";
    import { startLab } from "@mailproof/lab/lab";
    const lab = await startLab({ companies: 3, slowMs: 1e6 });
    for (let host = 1; host < 90; host += 1) {
      const socket = connect({ host: "127.77.0." + host, port: lab.smtpPort });
      socket.on("error", () => {}).write("EHLO me\\r\\n");
      await once(socket, "connect").catch(() => {});
    }
    await lab.close();
    console.log("closed");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    timeout: 20_000,
  });
  const [replies, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);

  expect([replies, code]).toEqual(["closed\n", 0]);
}, 30_000);

test("a lab that closes during sessions closes everything that it opened", async () => {
  const own = await startLab({ companies: 3 });
  const hosts = await Promise.all(
    ["silent", "valid", "slowbanner", "endless", "tls"].map(async (name) =>
      (await findMailHosts(own, getDomain(name))).at(0),
    ),
  );
  const sockets = hosts.map((host) => connect({ host: host ?? "", port: own.smtpPort }));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const closed = sockets.map((socket) => {
    socket.on("error", () => socket.destroy()).resume();
    return once(socket, "close");
  });
  await own.close();
  await Promise.all(closed);

  expect(own.stats().open).toBe(0);
  await expect(dial(hosts[1] ?? "", own.smtpPort)).rejects.toThrow(/ECONNREFUSED/);
  await expect(createResolver(own).resolveMx(getDomain("valid"))).rejects.toThrow(
    /ECONNREFUSED|ETIMEOUT/,
  );
});

const plan = { zoneName: "lab.example", domains: allDomains, companies: 200 };

const createRequest = (local: string, domain: string): RecipientRequest => ({
  local,
  domain: `${domain}.lab.example`,
  nth: 1,
  earlier: [],
  waitedMs: () => 0,
});

const { hosts } = buildNetwork({ ...plan, ownAddresses: true });

test("each host of the lab has its own address, different from the machine's", () => {
  const addresses = hosts.map(({ address }) => address);

  expect(new Set(addresses).size).toBe(addresses.length);
  expect(addresses.filter((address) => !/^127\.77\.\d+\.\d+$/.test(address))).toEqual([]);
});

test("most simulated companies share a few mail hosts, and some have their own", () => {
  const names = hosts.map(({ name }) => name);

  expect(names).toContain("mx1.bighost.lab.example");
  expect(names.filter((name) => /^mx\.c\d+\.companies/.test(name)).length).toBeGreaterThan(5);
  expect(names.filter((name) => /host/.test(name)).length).toBeLessThan(60);
});

describe("a lab with one address", () => {
  const { hosts, zone } = buildNetwork({ ...plan, ownAddresses: false });
  const rcpt = hosts[0]?.behavior.rcpt;

  test("in a lab with one address one host listens, and every MX record leads to it", () => {
    expect(hosts).toHaveLength(1);
    expect(zone["mx.full.lab.example"]).toEqual({ A: ["127.0.0.1"] });
  });

  test.each([
    ["ada.lovelace", "valid", /^250/],
    ["nobody", "valid", /^550/],
    ["ada.lovelace", "full", /^452/],
    ["ada.lovelace", "xn--bcher-kva", /^250/],
    ["ada.lovelace", "c0001.companies", /^550|^250/],
    ["ada.lovelace", "elsewhere", /^554 5\.7\.1/],
  ])("the domain alone decides the reply to %s@%s", (local, domain, expected) => {
    expect(rcpt?.(createRequest(local, domain))).toMatch(expected);
  });
});

// One mail server stands in the records of many domains: as the only host, as one of two equal ones, and as the one
// to fall back on. Each way has its own queue, and the server counts them all together.

const ONE = `mx.valid.${LAB_ZONE}`;
const OTHER = `mx.noenhanced.${LAB_ZONE}`;
const CLOSED = `mx.refused.${LAB_ZONE}`;

const MX = {
  "alone.test": [[10, ONE]],
  "equal.test": [
    [10, ONE],
    [10, OTHER],
  ],
  "second.test": [
    [10, CLOSED],
    [20, ONE],
  ],
} as const;

const zones: NonNullable<LabOptions["zones"]> = Object.fromEntries(
  Object.entries(MX).map(([domain, records]) => [domain, { [domain]: { MX: records } }]),
);

test("a mail server of many domains gets at most ten connections of ours", async () => {
  const lab = await startLab({ companies: 0, replyMs: 1, zones });
  const mailPorts = openMailPorts(
    readEnvironment({}),
    createSqliteTable(":memory:", () => new Date()),
    lab,
  );
  const addresses = Object.keys(MX).flatMap((domain) =>
    Array.from({ length: 300 }, (_, number) => `ada.lovelace${number}@${domain}`),
  );
  const options = { deepVerify: true, includeAi: false, includeEvidence: false };

  const world = { engine: createEngine(mailPorts), sleep: mailPorts.sleep };
  const statuses = new Set<string>();
  for await (const { status } of verifyMany(world, addresses, options)) statuses.add(status);
  const { peakSessionsPerHost: peaks } = lab.stats();
  mailPorts.close();
  await lab.close();

  expect([...statuses]).toEqual(["valid"]);
  expect(peaks[ONE]).toBeGreaterThan(1);
  expect(peaks[ONE]).toBeLessThanOrEqual(10);
  expect(peaks[OTHER]).toBeLessThanOrEqual(10);
});
