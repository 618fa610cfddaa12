import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { limitHostConnections } from "@mailproof/core/smtp-pool/connect";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { DEFAULT_LIMITS } from "@mailproof/mail/mail-provider-table";
import type { SmtpConnect, SmtpWire } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { type Behaviour, createNetwork } from "../../mail/smtp/play.ts";

const AT_ONCE = DEFAULT_LIMITS.connections;
const OPTIONS = { timeoutMs: 1000, affinityKey: "" };
const at = (host: string) => ({ ip: "192.0.2.1", port: 25, host });
const waitForImmediate = () => new Promise((resolve) => setImmediate(resolve));
const noTime = () => Promise.resolve();

const getHosts = () => {
  const open = new Map<string, number>();
  const count = (host: string, by: number) => open.set(host, (open.get(host) ?? 0) + by);
  const connect: SmtpConnect = async ({ host }) => {
    count(host, 1);
    const silent: Omit<SmtpWire, "close"> = {
      send: () => {},
      receive: async () => "closed",
      startTls: async () => null,
    };
    return { ...silent, close: async () => void count(host, -1) };
  };
  return { open, connect };
};

const callAll = (connect: SmtpConnect, host: string, times: number): SmtpWire[] => {
  const wires: SmtpWire[] = [];
  for (let call = 0; call < times; call++)
    void connect(at(host), OPTIONS).then((wire) => typeof wire === "object" && wires.push(wire));
  return wires;
};

test("a mail host never gets more concurrent calls than its limit", async () => {
  const { open, connect } = getHosts();
  const wires = callAll(limitHostConnections(connect, noTime), "mx.example", AT_ONCE + 5);
  await waitForImmediate();
  expect(open.get("mx.example")).toBe(AT_ONCE);

  await Promise.all(wires.splice(0, 3).map((wire) => wire.close()));
  await waitForImmediate();

  expect(open.get("mx.example")).toBe(AT_ONCE);
  expect(wires).toHaveLength(AT_ONCE);
});

test("a full host does not delay the calls to another host", async () => {
  const { open, connect } = getHosts();
  const limited = limitHostConnections(connect, noTime);
  callAll(limited, "mx.example", AT_ONCE + 1);
  callAll(limited, "mx.elsewhere.example", 1);
  await waitForImmediate();

  expect(open.get("mx.elsewhere.example")).toBe(1);
});

test("a failed connection releases its slot at once", async () => {
  let calls = 0;
  const refused: SmtpConnect = async () => {
    calls += 1;
    return "connect_refused";
  };
  callAll(limitHostConnections(refused, noTime), "mx.example", AT_ONCE * 3);
  await waitForImmediate();

  expect(calls).toBe(AT_ONCE * 3);
});

test("a connection that closes twice releases one slot", async () => {
  const { connect } = getHosts();
  const wires = callAll(limitHostConnections(connect, noTime), "mx.example", AT_ONCE + 2);
  await waitForImmediate();

  await Promise.all([wires[0]?.close(), wires[0]?.close()]);
  await waitForImmediate();

  expect(wires).toHaveLength(AT_ONCE + 1);
});

test("a slot becomes free after a pause in which the server notices the close", async () => {
  const { open, connect } = getHosts();
  const { promise: limitReset, resolve: advance } = Promise.withResolvers<void>();
  const wires = callAll(
    limitHostConnections(connect, () => limitReset),
    "mx.example",
    AT_ONCE + 1,
  );
  await waitForImmediate();
  await wires[0]?.close();
  await waitForImmediate();
  expect(open.get("mx.example")).toBe(AT_ONCE - 1);

  advance();
  await waitForImmediate();

  expect(open.get("mx.example")).toBe(AT_ONCE);
});

// A backup host never speaks for the domain: the first choice that answers does.

const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;
const BUSY = "421 4.3.2 All server ports are busy";

const accepts: Behaviour = (line) => (line === null ? "220 mx" : "250 OK");
const knowsAnn: Behaviour = (line) => {
  if (line === null) return "220 mx";
  const isUnknown = line.startsWith("RCPT") && !line.includes("<ann@");
  return isUnknown ? "550 5.1.1 User unknown" : "250 OK";
};
const isBusy: Behaviour = () => BUSY;
const acceptsRandom: Behaviour = (line) =>
  line !== null && RANDOM_RECIPIENT.test(line) ? "250 OK" : knowsAnn(line);

const setup = (first: Behaviour, second: Behaviour, priorities: readonly number[] = [10, 20]) => {
  const { world, table } = givenWorld();
  const catchAllCache = createCatchAllCache(table, world.now);
  const { connect } = createNetwork({ "192.0.2.1": first, "192.0.2.2": second });
  const smtp = { helo: "probe.invalid", from: "probe@probe.invalid", port: 25 };
  const probe = createProbe({ ...world, connect, catchAllCache, smtp });
  const hosts: readonly MailHost[] = priorities.map((priority, at) => ({
    host: `mx${at + 1}.a.example`,
    priority,
    ips: [`192.0.2.${at + 1}`],
  }));
  const ask = (recipient = "ann@a.example") =>
    probe({ recipient, domain: "a.example", hosts, probeCatchAll: true });
  return { ask, findState: () => catchAllCache.find("a.example", "") };
};

test("a busy first choice decides the verdict, although the backup host accepts every recipient", async () => {
  const { ask, findState } = setup(isBusy, accepts);

  expect(await ask()).toMatchObject({
    finding: { verdict: "unknown", reason: "server_refuses" },
    reply: { code: 421 },
    host: "mx1.a.example",
    catchAll: "not_tested",
  });
  expect(await findState()).toMatchObject({ acceptsEveryone: false });
});

test("the evidence shows every contacted host with its reply", async () => {
  const { transcript } = await setup(isBusy, accepts).ask();
  const lines = transcript.map(({ who, text }) => `${who} ${text}`);

  expect(lines).toContain("wire mx1.a.example [192.0.2.1]");
  expect(lines).toContain(`server ${BUSY}`);
  expect(lines).toContain("wire mx2.a.example [192.0.2.2]");
  expect(lines).toContain("client RCPT TO:<ann@a.example>");
});

test("a backup host that refuses a recipient does not make the address invalid", async () => {
  const { ask } = setup(isBusy, knowsAnn);

  expect(await ask("eve@a.example")).toMatchObject({
    finding: { verdict: "unknown" },
    host: "mx1.a.example",
  });
});

test("a backup host that accepts a recipient and refuses a random one proves a mailbox", async () => {
  expect(await setup(isBusy, knowsAnn).ask()).toMatchObject({
    finding: { verdict: "valid" },
    catchAll: "no",
    host: "mx2.a.example",
  });
});

test("hosts of one priority all count as first choices", async () => {
  const { ask } = setup(isBusy, knowsAnn, [10, 10]);

  for (let times = 0; times < 5; times++)
    expect(await ask("eve@a.example")).toMatchObject({ finding: { verdict: "invalid" } });
});

test.each([
  ["refuses the connection", "connect_refused"],
  ["replies that it takes no mail", () => "521 5.3.2 no mail here"],
] as const)("the next host decides the verdict when a first choice %s", async (_, first) => {
  const { ask } = setup(first, knowsAnn);

  expect(await ask()).toMatchObject({ finding: { verdict: "valid" }, catchAll: "no" });
  expect(await ask("eve@a.example")).toMatchObject({ finding: { verdict: "invalid" } });
});

test("a backup host that accepts every recipient behind a closed first choice proves no catch-all", async () => {
  for (const backup of [accepts, acceptsRandom]) {
    const { ask, findState } = setup("connect_refused", backup);

    expect(await ask()).toMatchObject({ finding: { verdict: "valid" }, catchAll: "undecided" });
    expect(await findState()).toMatchObject({ acceptsEveryone: false });
  }
});

test("the engine retries a silent first choice after any reply of the backup host", async () => {
  expect(await setup(() => "!timeout", accepts).ask()).toMatchObject({
    finding: { verdict: "unknown", reason: "timeout", retry: "later" },
  });
});
