import {
  buildProbeRecords,
  formatZoneLine,
  toSenderAddress,
} from "@mailproof/core/egress/egress-records";
import {
  type SelfTestFinding,
  type SelfTestPorts,
  testEgress,
} from "@mailproof/core/egress/egress-self-test";
import { createList } from "@mailproof/mail/blocklists/lists";
import type { SmtpConnect, SmtpWire, WireFault } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { parseReply } from "../../mail/smtp/play.ts";

const HELO = "probe.example.com";
const IP = "198.51.101.7";
const LIST = "bl.example.org";

const SERVERS: Zone = {
  "one.example": { MX: ["10 mx.one.example"] },
  "mx.one.example": { A: ["8.8.4.1"] },
  "two.example": { MX: ["10 mx.two.example"] },
  "mx.two.example": { A: ["8.8.4.2"] },
};

/** The records that `admin egress records` asks for, all present. */
const createZone = (ips: readonly string[]): Zone => {
  const records = buildProbeRecords({ domain: HELO, ips, mx: "mail.example.com" });
  const zone: Record<string, Record<string, string[]>> = {
    "mail.example.com": { A: ["8.8.4.9"] },
  };
  for (const { name, type, value } of records) {
    const at = (zone[name] ??= {});
    (at[type] ??= []).push(type === "PTR" || type === "MX" ? value.replace(/\.$/, "") : value);
  }
  return zone;
};

/** Sends its lines one after the other, whatever the client sends. */
const createServer = (lines: readonly string[]): SmtpWire => {
  const left = [...lines];
  return {
    send: () => undefined,
    receive: async () => {
      const line = left.shift();
      return line === undefined ? "closed" : parseReply(line);
    },
    startTls: async () => null,
    close: async () => undefined,
  };
};

const FRIENDLY = ["220 mx", `250-at your service, [${IP}]\r\n250 PIPELINING`];

type Answer = readonly string[] | WireFault;

/** `exits`: what the servers answer by each. */
const given = async (
  names: Zone,
  answer: Answer = FRIENDLY,
  helo: string = HELO,
  blocks: SelfTestPorts["blocks"] = [],
  exits: Readonly<Record<string, Answer>> = { direct: answer },
) => {
  const dns = createZoneDns({ ...SERVERS, [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] }, ...names });
  const connect: SmtpConnect = async (_, { exit = "" }) => {
    const by = exits[exit] ?? "internal";
    return typeof by === "string" ? by : createServer(by);
  };
  const found = await testEgress(
    {
      connect,
      exits: Object.keys(exits),
      blocks,
      dnsLookups: {
        dns,
        listDns: dns,
        dkimSelectors: [],
        allowed: [],
        blocklists: { listsFor: () => [createList(LIST)], keys: {}, isHealthy: async () => true },
      },
    },
    { helo, from: toSenderAddress(HELO), port: 25, domains: ["one.example", "two.example"] },
  );
  const holds = (about: SelfTestFinding["about"]) =>
    found.findings.find((one) => one.about === about)?.holds;
  return { ...found, holds };
};

test("the self test lets a host probe when every required record exists", async () => {
  const { mayProbe, ips, findings } = await given(createZone([IP]));

  expect(findings.filter(({ holds }) => holds !== "yes")).toEqual([]);
  expect(mayProbe).toBe("yes");
  expect(ips).toEqual([IP]);
});

test("the self test reports a closed port 25, and leaves the checks that need it unknown", async () => {
  const { mayProbe, holds } = await given(createZone([IP]), "connect_timeout");

  expect(mayProbe).toBe("no");
  expect(holds("port 25")).toBe("no");
  expect(holds("SPF")).toBe("unknown");
});

test("the self test reports nothing about port 25 without a name server", async () => {
  const { holds } = await given({ "one.example": "TIMEOUT", "two.example": "TIMEOUT" });

  expect(holds("port 25")).toBe("unknown");
});

test("the self test forbids probing, and reports the reply, when a server greets with a refusal", async () => {
  const { mayProbe, findings } = await given(createZone([IP]), ["554 5.7.1 your IP is blocked"]);

  expect(mayProbe).toBe("no");
  expect(findings.find(({ about }) => about === "greeting")?.message).toContain(
    "your IP is blocked",
  );
});

test.each<[string, SelfTestFinding["about"], (names: Zone) => Zone]>([
  ["no reverse DNS", "reverse DNS", (names) => ({ ...names, "7.101.51.198.in-addr.arpa": {} })],
  [
    "reverse DNS of another name",
    "reverse DNS",
    (names) => ({ ...names, "7.101.51.198.in-addr.arpa": { PTR: ["host7.provider.example"] } }),
  ],
  [
    "a name that leads elsewhere",
    "reverse DNS",
    (names) => ({ ...names, [HELO]: { ...at(names), A: ["198.51.101.8"] } }),
  ],
  [
    "an SPF record without the address",
    "SPF",
    (names) => ({ ...names, [HELO]: { ...at(names), TXT: ["v=spf1 -all"] } }),
  ],
  [
    "a sender domain without a mail host",
    "sender",
    (names) => ({ ...names, [HELO]: { ...at(names), MX: ["0 ."] } }),
  ],
  [
    "an entry on a blocklist",
    "blocklists",
    (names) => ({ ...names, [`7.101.51.198.${LIST}`]: { A: ["127.0.0.2"] } }),
  ],
])("the self test forbids probing with %s", async (_, about, breaking) => {
  const { mayProbe, holds } = await given(breaking(createZone([IP])));

  expect(holds(about)).toBe("no");
  expect(mayProbe).toBe("no");
});

const at = (names: Zone): object => names[HELO] as object;

test("failing name servers leave the self test's outcome unknown", async () => {
  const { mayProbe, holds } = await given({
    ...createZone([IP]),
    "7.101.51.198.in-addr.arpa": "SERVFAIL",
  });

  expect(holds("reverse DNS")).toBe("unknown");
  expect(mayProbe).toBe("unknown");
});

test("a provider's open circuit forbids probing, and the self test reports its reply", async () => {
  const until = new Date("2026-11-21T01:00:00Z");
  const block = { provider: "icloud", exit: "direct", until, reply: "554 Blocked" };
  const { mayProbe, findings } = await given(createZone([IP]), FRIENDLY, HELO, [block]);

  expect(mayProbe).toBe("no");
  expect(findings.at(-1)?.message).toMatch(/icloud .* direct .*554 Blocked.*2026-11-21T01:00/);
});

const seenAs = (ip: string) => ["220 mx", `250-at your service, [${ip}]\r\n250 PIPELINING`];

test("the self test reports reachability, address, names and port 25 of each exit", async () => {
  const [named, nameless, elsewhere] = ["198.51.101.8", "198.51.101.9", "198.51.101.10"] as const;
  const zone = {
    ...createZone([IP, named]),
    "10.101.51.198.in-addr.arpa": { PTR: ["host10.provider.example"] },
    "host10.provider.example": { A: [elsewhere] },
  };

  const { mayProbe, exits, ips, contactedServers } = await given(zone, FRIENDLY, HELO, [], {
    "192.0.2.1:1080": seenAs(IP),
    "192.0.2.2:1080": seenAs(nameless),
    "192.0.2.3:1080": seenAs(elsewhere),
    "192.0.2.4:1080": "connect_timeout",
    "192.0.2.5:1080": "proxy_failed",
  });

  expect(mayProbe).toBe("no");
  expect(ips).toEqual([IP, nameless, elsewhere]);
  expect(contactedServers).toHaveLength(10);
  const unseen = { ip: null, ptr: null, isHello: "unknown", isForward: "unknown" };
  expect(exits).toEqual([
    {
      exit: "192.0.2.1:1080",
      isReachable: true,
      port25: "yes",
      ip: IP,
      ptr: HELO,
      isHello: "yes",
      isForward: "yes",
    },
    {
      exit: "192.0.2.2:1080",
      isReachable: true,
      port25: "yes",
      ip: nameless,
      ptr: null,
      isHello: "no",
      isForward: "no",
    },
    {
      exit: "192.0.2.3:1080",
      isReachable: true,
      port25: "yes",
      ip: elsewhere,
      ptr: "host10.provider.example",
      isHello: "no",
      isForward: "yes",
    },
    { exit: "192.0.2.4:1080", isReachable: true, port25: "no", ...unseen },
    { exit: "192.0.2.5:1080", isReachable: false, port25: "no", ...unseen },
  ]);
});

test.each<[string, Readonly<Record<string, Answer>>, RegExp]>([
  ["a proxy that is down", { "a:1080": FRIENDLY, "b:1080": "proxy_failed" }, /b:1080 cannot be/],
  ["a closed port", { "a:1080": FRIENDLY, "b:1080": "connect_timeout" }, /By b:1080 too few/],
])("the self test reports %s although another exit works", async (_, exits, message) => {
  const { mayProbe, findings } = await given(createZone([IP]), FRIENDLY, HELO, [], exits);

  expect(mayProbe).toBe("no");
  expect(findings[0]).toMatchObject({ holds: "no", message: expect.stringMatching(message) });
});

test("the self test prints records as lines of a zone file, for addresses of both kinds", () => {
  const lines = buildProbeRecords({
    domain: HELO,
    ips: ["192.0.2.1", "2001:db8::1"],
    mx: "mail.example.com",
  }).map(formatZoneLine);

  expect(lines).toEqual([
    "probe.example.com. 3600 IN A 192.0.2.1",
    "probe.example.com. 3600 IN AAAA 2001:db8::1",
    "1.2.0.192.in-addr.arpa. 3600 IN PTR probe.example.com.",
    `1.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa. 3600 IN PTR probe.example.com.`,
    "probe.example.com. 3600 IN MX 10 mail.example.com.",
    'probe.example.com. 3600 IN TXT "v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all"',
    '_dmarc.probe.example.com. 3600 IN TXT "v=DMARC1; p=reject; adkim=s; aspf=s"',
  ]);
});
