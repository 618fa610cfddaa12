import type { Blocklist } from "@mailproof/mail/blocklists/lists";
import { createList } from "@mailproof/mail/blocklists/lists";
import type { DnsFailure, Records, Zone } from "./zone.ts";

/** A domain that sends mail, with the DNS records that a deliverability check has to find. */
export type LabSender = {
  readonly name: string;
  readonly shows: string;
  /** The result of its check with its IP address; null when the check gives no verdict. */
  readonly grade: "A" | "B" | "C" | "D" | "F" | null;
  /** The IP address that it sends from; null when it does not send. */
  readonly sendingIp: string | null;
  readonly hostname?: string;
  /** The records by name below the domain; "@" is the domain itself. The lab's zone replaces ZONE. */
  readonly records: Readonly<Record<string, Records | DnsFailure>>;
};

export const SENDERS_LABEL = "senders";
/** The reverse zone of the senders' addresses, reserved in the real world (RFC 5737, RFC 6303). */
export const SENDERS_REVERSE = "2.0.192.in-addr.arpa";
/** The senders' block. A check in the lab accepts a sending address from it, although it is reserved. */
export const SENDERS_BLOCK = "192.0.2.0/24";
/** A blocklist by RFC 5782, and a blocklist that refuses every question, as Spamhaus does to clouds. */
const BLOCKLIST = "bl";
const REFUSING_BLOCKLIST = "refusing-bl";

export const createLabBlocklists = (zoneName: string): readonly Blocklist[] => [
  {
    ...createList(`${BLOCKLIST}.${zoneName}`),
    name: "The lab's blocklist",
    codes: {
      kind: "exact",
      meanings: {
        "127.0.0.2": { says: "a source of spam", severity: "critical", costPoints: 60 },
        "127.0.0.10": { says: "a pool of customers", severity: "medium", costPoints: 15 },
      },
    },
  },
  { ...createList(`${REFUSING_BLOCKLIST}.${zoneName}`), name: "The lab's list that refuses" },
];

const LISTED_IP = "192.0.2.66";
const POOL_IP = "192.0.2.20";
const KEY_2048 =
  "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu3VLUUVlnK58Kfl/NlwlDCgx/7XRzo0ClWtbmF0pmcvQ1D7s6tKB8Kzzpq7np6bHC2TVHjlOyIpEfhs61duf1OT1SLneoijDQHHX0UiEL16vVlb1YcTR+9hnVWmHYc5g2bbr+6b0hRrBsWlZHN4jRbbw8sQXV3Dl8oV/mGRvIFpEiabU0Jxhu8R41Pyg6739toHxL+T6IKi2Guc2nXNhC9dkU6v1JgA+V9Kbg+7RbHSbaD8I4iEuvLGDy3sY4ZfL9c4UhiwyCCSTExdZAsy6BwZ2nwU0AOg1ytrYEYGeZQl2P7XV9bmSR1mHDNOr8SMxzOb/DfKEc1HHTxSF7aV/PQIDAQAB";
const KEY_1024 =
  "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCuKqoOCnp6khLfrobdIdoba5K9HhGICwqJK3DpZqJ/KTEHs4AN2nCyoxjuzSeAX4XwDwkhW+IM/GkKJh31OTaLj6WAilt0+3zMoTtwbpKQRe7hE8mL/n5KpZlJqXDExw1YudGVC6SPECThGq0bWZnTW8N1vBrrBjzAali0wnpjKQIDAQAB";

const MX = [[10, "mx.valid.ZONE"]] as const;
const formatRejectPolicy = (name: string) =>
  `v=DMARC1; p=reject; np=reject; rua=mailto:dmarc@${name}.senders.ZONE`;

const createDkimRecord = (key: string, tags = ""): Records => ({
  TXT: [`v=DKIM1; k=rsa; ${tags}p=${key}`],
});

const INCLUDED_LABELS = Array.from({ length: 11 }, (_, index) => `i${index}`);

const BY_NAME: Readonly<Record<string, Omit<LabSender, "name">>> = {
  good: {
    shows:
      "A complete set-up: SPF -all, a 2048-bit DKIM key, DMARC reject with reports, forward-confirmed reverse DNS, TLS-RPT.",
    grade: "A",
    sendingIp: "192.0.2.10",
    hostname: "out",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.10 mx -all"] },
      out: { A: ["192.0.2.10"] },
      "selector1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: { TXT: [formatRejectPolicy("good")] },
      "_smtp._tls": { TXT: ["v=TLSRPTv1; rua=mailto:tls@good.senders.ZONE"] },
    },
  },
  "news.good": {
    shows: "Has no DMARC record of its own and inherits the one above it.",
    grade: "A",
    sendingIp: "192.0.2.16",
    hostname: "out",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.16 -all"] },
      out: { A: ["192.0.2.16"] },
      "s1._domainkey": createDkimRecord(KEY_2048),
    },
  },
  "twice.good": {
    shows: "Has two DMARC records: RFC 9989 uses the one above them, RFC 7489 none.",
    grade: "B",
    sendingIp: "192.0.2.17",
    hostname: "out",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.17 -all"] },
      out: { A: ["192.0.2.17"] },
      "s1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: { TXT: ["v=DMARC1; p=reject", "v=DMARC1; p=none"] },
    },
  },
  signed: {
    shows: "Is signed (DNSSEC), and a TLSA record pins the key of its mail host (DANE).",
    grade: "A",
    sendingIp: "192.0.2.24",
    hostname: "mx",
    records: {
      "@": { MX: [[10, "mx.signed.senders.ZONE"]], TXT: ["v=spf1 mx -all"], isSigned: true },
      mx: { A: ["192.0.2.24"], isSigned: true },
      "_25._tcp.mx": { TLSA: [`3 1 1 ${"a5".repeat(32)}`], isSigned: true },
      "selector1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: { TXT: [formatRejectPolicy("signed")] },
    },
  },
  denied: {
    shows: "Its name server denies _domainkey, and still has a DKIM key below it.",
    grade: "A",
    sendingIp: "192.0.2.25",
    hostname: "out",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.25 -all"] },
      out: { A: ["192.0.2.25"] },
      _domainkey: "DENIED",
      "selector1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: {
        TXT: [
          "v=DMARC1; p=reject; np=reject; adkim=strict; rua=mailto:dmarc@denied.senders.ZONE; ruf=mailto:dmarc@good.senders.ZONE",
        ],
      },
    },
  },
  parked: {
    shows: "Neither sends nor receives: null MX, SPF -all, DMARC reject.",
    grade: "C",
    sendingIp: null,
    records: {
      "@": { MX: [[0, "."]], TXT: ["v=spf1 -all"] },
      _dmarc: { TXT: [formatRejectPolicy("parked")] },
    },
  },
  hidden: {
    shows: "Signs with a selector that cannot be guessed.",
    grade: "A",
    sendingIp: "192.0.2.18",
    hostname: "out",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.18 -all"] },
      out: { A: ["192.0.2.18"] },
      "x7q2w9._domainkey": createDkimRecord(KEY_2048),
      _dmarc: { TXT: [formatRejectPolicy("hidden")] },
    },
  },
  weak: {
    shows:
      "SPF ~all, a 1024-bit DKIM key in test mode, a revoked key next to it, DMARC for a part of the mail.",
    grade: "B",
    sendingIp: "192.0.2.15",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.15 ~all"] },
      "default._domainkey": createDkimRecord(KEY_1024, "t=y; "),
      "mail._domainkey": createDkimRecord(""),
      _dmarc: { TXT: ["v=DMARC1; p=quarantine; pct=20"] },
    },
  },
  pool: {
    shows:
      "Sends from a provider's pool: on a policy list, with a generic name, outside its SPF record.",
    grade: "B",
    sendingIp: POOL_IP,
    hostname: "dyn-192-0-2-20",
    records: {
      "@": { MX, TXT: ["v=spf1 mx ~all"] },
      "dyn-192-0-2-20": { A: [POOL_IP] },
      "s1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: { TXT: ["v=DMARC1; p=quarantine; rua=mailto:dmarc@pool.senders.ZONE"] },
    },
  },
  watching: {
    shows: "DMARC only monitors, SPF ends in ~all, and no DKIM key is published.",
    grade: "C",
    sendingIp: "192.0.2.19",
    hostname: "out",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.19 ~all"] },
      out: { A: ["192.0.2.19"] },
      _dmarc: { TXT: ["v=DMARC1; p=none; rua=mailto:dmarc@watching.senders.ZONE"] },
    },
  },
  lookups: {
    shows: "SPF includes eleven others, one lookup more than RFC 7208 §4.6.4 allows.",
    grade: "D",
    sendingIp: "192.0.2.100",
    records: {
      "@": {
        MX,
        TXT: [
          `v=spf1 ${INCLUDED_LABELS.map((name) => `include:${name}.lookups.senders.ZONE `).join("")}-all`,
        ],
      },
      ...Object.fromEntries(
        INCLUDED_LABELS.map((name, index) => [
          name,
          { TXT: [`v=spf1 ip4:192.0.2.${100 + index} -all`] },
        ]),
      ),
      "s1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: { TXT: ["v=DMARC1; p=quarantine; rua=mailto:dmarc@lookups.senders.ZONE"] },
    },
  },
  dangling: {
    shows:
      "Has leftovers of a former provider: an SPF include that is gone, a selector that is a CNAME without a key.",
    grade: "D",
    sendingIp: "192.0.2.21",
    hostname: "out",
    records: {
      "@": { MX, TXT: ["v=spf1 include:gone.senders.ZONE ip4:192.0.2.21 -all"] },
      out: { A: ["192.0.2.21"] },
      "selector1._domainkey": createDkimRecord(KEY_2048),
      "selector2._domainkey": { CNAME: ["mx.valid.ZONE"] },
      _dmarc: { TXT: [formatRejectPolicy("dangling")] },
    },
  },
  bare: {
    shows: "Has only an MX: no SPF, no DKIM (the name does not exist), no DMARC.",
    grade: "F",
    sendingIp: "192.0.2.11",
    records: { "@": { MX } },
  },
  open: {
    shows: "SPF ends in +all; DMARC only monitors, without reports.",
    grade: "F",
    sendingIp: "192.0.2.12",
    records: {
      "@": { MX, TXT: ["v=spf1 mx +all"] },
      _dmarc: { TXT: ["v=DMARC1; p=none"] },
    },
  },
  double: {
    shows: "Has two SPF and two DMARC records, which makes both invalid.",
    grade: "F",
    sendingIp: "192.0.2.14",
    records: {
      "@": { MX, TXT: ["v=spf1 mx -all", "v=spf1 ip4:192.0.2.14 -all"] },
      _dmarc: { TXT: ["v=DMARC1; p=reject", "v=DMARC1; p=none"] },
    },
  },
  listed: {
    shows: "Authenticates fully, but sends from an address on the lab's blocklist.",
    grade: "F",
    sendingIp: LISTED_IP,
    records: {
      "@": { MX, TXT: [`v=spf1 ip4:${LISTED_IP} -all`] },
      "selector1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: { TXT: [formatRejectPolicy("listed")] },
    },
  },
  flaky: {
    shows: "Its SPF and DMARC queries fail (SERVFAIL), which counts nothing.",
    grade: "A",
    sendingIp: "192.0.2.22",
    hostname: "out",
    records: {
      "@": { MX, TXT: "SERVFAIL" },
      out: { A: ["192.0.2.22"] },
      "s1._domainkey": createDkimRecord(KEY_2048),
      _dmarc: "SERVFAIL",
    },
  },
  failing: {
    shows: "Its name servers fail at every query, so nothing is charged.",
    grade: null,
    sendingIp: "192.0.2.23",
    records: { "@": "SERVFAIL", "*": "SERVFAIL" },
  },
};

export const SENDERS: readonly LabSender[] = Object.entries(BY_NAME).map(([name, sender]) => ({
  name,
  ...sender,
}));

const reverseIp = (ip: string): string => ip.split(".").toReversed().join(".");

const createListing = (code: string): Records => ({ A: [code], TXT: ["Listed by the lab"] });

export const buildSendersZone = (zoneName: string): Zone => {
  const senders = SENDERS.flatMap(({ name, records }) =>
    Object.entries(records).map(([below, found]) => [
      `${below === "@" ? "" : `${below}.`}${name}.${SENDERS_LABEL}.${zoneName}`,
      publishRecords(found, zoneName),
    ]),
  );
  return {
    ...Object.fromEntries(senders),
    // RFC 5782 §5: a list that works has 127.0.0.2 and lacks 127.0.0.1.
    [`${reverseIp("127.0.0.2")}.${BLOCKLIST}.${zoneName}`]: createListing("127.0.0.2"),
    [`${reverseIp(LISTED_IP)}.${BLOCKLIST}.${zoneName}`]: createListing("127.0.0.2"),
    [`${reverseIp(POOL_IP)}.${BLOCKLIST}.${zoneName}`]: createListing("127.0.0.10"),
    [`*.${REFUSING_BLOCKLIST}.${zoneName}`]: { A: ["127.255.255.254"] },
  };
};

export const buildSendersReverseZone = (zoneName: string): Zone =>
  Object.fromEntries(
    SENDERS.flatMap(({ name, sendingIp, hostname: calledAs }) =>
      sendingIp === null || calledAs === undefined
        ? []
        : [
            [
              `${reverseIp(sendingIp)}.in-addr.arpa`,
              { PTR: [`${calledAs}.${name}.${SENDERS_LABEL}.${zoneName}`] },
            ],
          ],
    ),
  );

/** Replaces ZONE first, because only then the length of a text is known. */
const publishRecords = (records: Records | DnsFailure, zoneName: string): Records | DnsFailure => {
  if (typeof records === "string") return records;
  const withZone = JSON.parse(JSON.stringify(records).replaceAll("ZONE", zoneName)) as Records;
  const { TXT } = withZone;
  return typeof TXT === "object" ? { ...withZone, TXT: TXT.map(splitStrings) } : withZone;
};

/** A character-string holds at most 255 bytes (RFC 1035 §3.3), so a long record has several of them. */
const splitStrings = (text: string | readonly string[]): readonly string[] =>
  [text].flat().flatMap((one) => one.match(/.{1,255}/g) ?? [""]);
