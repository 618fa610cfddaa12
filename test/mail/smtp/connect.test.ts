import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { type SessionRequest, trySession } from "@mailproof/mail/smtp/connect";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { type Behaviour, createNetwork, friendly } from "./play.ts";

const request: SessionRequest = {
  helo: "probe.example",
  from: "probe@probe.example",
  recipients: ["ann@a.example", "bob@a.example"],
  randomRecipients: new Map(),
  port: 25,
};
const time = { now: () => new Date(0), deadline: new Date(25_000) };

/** Mail hosts mx1, mx2, … in the order of their priority, each with the addresses given. */
const hostsAt = (...ips: (string | string[])[]): MailHost[] =>
  ips.map((ip, index) => ({ host: `mx${index + 1}.a.example`, priority: index, ips: [ip].flat() }));

const whenTried = async (behaviours: Record<string, Behaviour>, hosts: readonly MailHost[]) => {
  const network = createNetwork(behaviours);
  const outcome = await trySession(network.connect, hosts, request, time);
  const connects = network.log.filter((line) => line.startsWith("connect"));
  return { ...network, tried: outcome, tally: connects.map((line) => line.split(/[ :]/)[1]) };
};

const replies =
  (banner: string): Behaviour =>
  () =>
    banner;

test("the engine connects to the host with the lowest priority, at its exact address", async () => {
  const hosts = [
    { host: "mx2.a.example", priority: 20, ips: ["192.0.2.2"] },
    { host: "mx1.a.example", priority: 10, ips: ["192.0.2.1"] },
  ];
  const {
    tried: outcome,
    log,
    open,
  } = await whenTried({ "192.0.2.1": friendly, "192.0.2.2": friendly }, hosts);

  expect(outcome).toMatchObject({ host: "mx1.a.example", ip: "192.0.2.1" });
  expect(outcome.result.recipients.map(({ reply }) => reply?.code)).toEqual([250, 550]);
  expect(outcome.attempts).toHaveLength(1);
  expect(log[0]).toBe("connect 192.0.2.1:25 mx1.a.example 5000 mx1.a.example");
  expect(open.size, "wires left open").toBe(0);
});

test.each<[string, Behaviour]>([
  ["refuses the connection", "connect_refused"],
  ["cannot be reached in time", "connect_timeout"],
  ["says 421", replies("421 4.3.2 not now")],
  ["says 4xx", replies("450 busy")],
  ["says 5xx", replies("554 no")],
  ["takes no mail at all", replies("521 no mail here")],
  ["hangs up", replies("!closed")],
  ["is no mail server", replies("!not_smtp")],
  ["hangs up at EHLO", (reply) => (reply === null ? "220 mx" : "!closed")],
])("the engine tries the next host when the first %s", async (_, behaviour) => {
  const { tried: outcome, open } = await whenTried(
    { "192.0.2.1": behaviour, "192.0.2.2": friendly },
    hostsAt("192.0.2.1", "192.0.2.2"),
  );

  expect(outcome.host).toBe("mx2.a.example");
  expect(outcome.result.closedBy).toBe("us");
  expect(outcome.attempts.map(({ ip }) => ip)).toEqual(["192.0.2.1", "192.0.2.2"]);
  expect(open.size, "wires left open").toBe(0);
});

test("the engine does not ask another host after a reply about sender or recipients", async () => {
  const strict: Behaviour = (reply) =>
    reply?.startsWith("MAIL") ? "550 5.7.1 no" : friendly(reply);
  const { tally, tried: outcome } = await whenTried(
    { "192.0.2.1": strict, "192.0.2.2": friendly },
    hostsAt("192.0.2.1", "192.0.2.2"),
  );

  expect(tally).toEqual(["192.0.2.1"]);
  expect(outcome.result.closedBy).toBe("refused");
});

test("the engine does not leave a host that throttles us for another one", async () => {
  const { tally, tried: outcome } = await whenTried(
    {
      "192.0.2.1": replies("421 4.7.0 Too many connections from 192.0.2.99"),
      "192.0.2.2": friendly,
    },
    hostsAt("192.0.2.1", "192.0.2.2"),
  );

  expect(tally).toEqual(["192.0.2.1"]);
  expect(outcome.result).toMatchObject({ closedBy: "421", remaining: request.recipients });
});

test("the engine tries three hosts at most", async () => {
  const { tally } = await whenTried(
    {},
    hostsAt("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"),
  );

  expect(tally).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
});

test("the engine tries two addresses of a host before the next host", async () => {
  const { tally } = await whenTried(
    {},
    hostsAt(["192.0.2.1", "192.0.2.11", "192.0.2.111"], "192.0.2.2"),
  );

  expect(tally).toEqual(["192.0.2.1", "192.0.2.11", "192.0.2.2"]);
});

test("the engine tries one address of a host that has replied", async () => {
  const { tally } = await whenTried(
    { "192.0.2.1": replies("554 no") },
    hostsAt(["192.0.2.1", "192.0.2.11"], "192.0.2.2"),
  );

  expect(tally).toEqual(["192.0.2.1", "192.0.2.2"]);
});

test("the engine tries an address that two hosts share once", async () => {
  const { tally } = await whenTried({}, hostsAt("192.0.2.1", "192.0.2.1"));

  expect(tally).toEqual(["192.0.2.1"]);
});

test("the engine tries no host without an address", async () => {
  const { tally, tried: outcome } = await whenTried(
    { "192.0.2.2": friendly },
    hostsAt([], "192.0.2.2"),
  );

  expect(tally).toEqual(["192.0.2.2"]);
  expect(outcome.host).toBe("mx2.a.example");
});

test("the engine tries no host after the deadline, and leaves all recipients unasked", async () => {
  const { connect, log } = createNetwork({});
  const late = { now: () => new Date(25_000), deadline: new Date(25_000) };

  const { result } = await trySession(connect, hostsAt("192.0.2.1", "192.0.2.2"), request, late);

  expect(result).toMatchObject({ closedBy: "deadline", remaining: request.recipients });
  expect(log).toEqual([]);
});

test.each<[string, Behaviour, Behaviour, unknown]>([
  ["the fault of the first", "connect_timeout", "connect_refused", "connect_timeout"],
  ["a refusal before a fault", "connect_refused", replies("554 no"), { code: 554 }],
  // RFC 7504: 521 would condemn every address, and the other host may only be down.
  ["a fault before a 521", replies("521 no mail"), "connect_refused", "connect_refused"],
  ["a deferral before a 521", replies("521 no mail"), replies("421 later"), { code: 421 }],
  ["a 521 that all of them say", replies("521 no"), replies("521 no"), { code: 521 }],
])("the outcome without a talking host is %s", async (_, first, second, expected) => {
  const { tried: outcome } = await whenTried(
    { "192.0.2.1": first, "192.0.2.2": second },
    hostsAt("192.0.2.1", "192.0.2.2"),
  );

  expect(outcome.result.ending).toMatchObject({ reply: expected });
  expect(outcome.result.recipients).toHaveLength(2);
  expect(outcome.attempts).toHaveLength(2);
});

test("the outcome of a domain without hosts is no_address", async () => {
  const { tried: outcome } = await whenTried({}, []);

  expect(outcome.result.recipients).toMatchObject([
    { stage: "connect", fault: "no_address", reply: null },
    { stage: "connect", fault: "no_address", reply: null },
  ]);
});

const offering = (inTls: string): Behaviour => {
  let secured = false;
  return (reply) => {
    if (reply === null) secured = false;
    if (reply === "(TLS)") {
      secured = true;
      return inTls;
    }
    if (secured) return inTls;
    if (reply === "STARTTLS") return "220 go";
    return reply?.startsWith("EHLO") ? "250-mx | 250 STARTTLS" : friendly(reply);
  };
};

test.each([
  ["in the handshake", "!tls_failed"],
  ["after it", "!closed"],
])("the engine asks the host once more in the clear when TLS breaks %s", async (_, inTls) => {
  const {
    tried: outcome,
    log,
    open,
  } = await whenTried({ "192.0.2.1": offering(inTls) }, hostsAt("192.0.2.1", "192.0.2.2"));

  expect(outcome.result).toMatchObject({ closedBy: "us", tls: false });
  expect(outcome.attempts.map(({ ip }) => ip)).toEqual(["192.0.2.1", "192.0.2.1"]);
  expect(log.filter((line) => line === "STARTTLS")).toHaveLength(1);
  expect(open.size, "wires left open").toBe(0);
});

test("the provider of the host limits the recipients of one connection", async () => {
  const hosts = [{ host: "a.mail.protection.outlook.com", priority: 0, ips: ["192.0.2.1"] }];
  const { log } = await whenTried({ "192.0.2.1": friendly }, hosts);

  expect(log.filter((line) => line === "RSET")).toHaveLength(1);
});

test.each([
  ["filter10.antispamcloud.com", 45_000],
  ["mx1.a.example", 10_000],
])("the host %s gets %i ms for a recipient", async (host, wanted) => {
  const { connect } = createNetwork({ "192.0.2.1": friendly });
  const waits: number[] = [];
  const listening: SmtpConnect = async (target, options) => {
    const wire = await connect(target, options);
    if (typeof wire === "string") return wire;
    const receive = (ms: number) => {
      waits.push(ms);
      return wire.receive(ms);
    };
    return { ...wire, receive };
  };
  const patient = { now: () => new Date(0), deadline: new Date(120_000) };

  await trySession(listening, [{ host, priority: 0, ips: ["192.0.2.1"] }], request, patient);

  expect(waits).toEqual([10_000, 10_000, 10_000, wanted, wanted, 1_000]);
});
