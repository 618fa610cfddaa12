import type { Records, Zone } from "./zone.ts";

/** A domain that sends mail, well or badly: what a deliverability check has to find in DNS. */
export type Sender = {
  /** The label below `senders` in the lab's zone. */
  readonly name: string;
  readonly shows: string;
  /** Where it sends from. */
  readonly sendingIp: string;
  /** Below the domain; "@" is the domain itself. ZONE stands for the lab's zone. */
  readonly records: Readonly<Record<string, Records>>;
};

export const SENDERS_BELOW = "senders";
/** A blocklist as RFC 5782 describes it, and one that refuses everybody's questions as Spamhaus does with clouds. */
export const BLOCKLIST = "bl";
export const REFUSING_BLOCKLIST = "refusing-bl";

const LISTED_IP = "192.0.2.66";
// Their private halves were never kept.
const KEY_2048 =
  "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu3VLUUVlnK58Kfl/NlwlDCgx/7XRzo0ClWtbmF0pmcvQ1D7s6tKB8Kzzpq7np6bHC2TVHjlOyIpEfhs61duf1OT1SLneoijDQHHX0UiEL16vVlb1YcTR+9hnVWmHYc5g2bbr+6b0hRrBsWlZHN4jRbbw8sQXV3Dl8oV/mGRvIFpEiabU0Jxhu8R41Pyg6739toHxL+T6IKi2Guc2nXNhC9dkU6v1JgA+V9Kbg+7RbHSbaD8I4iEuvLGDy3sY4ZfL9c4UhiwyCCSTExdZAsy6BwZ2nwU0AOg1ytrYEYGeZQl2P7XV9bmSR1mHDNOr8SMxzOb/DfKEc1HHTxSF7aV/PQIDAQAB";
const KEY_1024 =
  "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCuKqoOCnp6khLfrobdIdoba5K9HhGICwqJK3DpZqJ/KTEHs4AN2nCyoxjuzSeAX4XwDwkhW+IM/GkKJh31OTaLj6WAilt0+3zMoTtwbpKQRe7hE8mL/n5KpZlJqXDExw1YudGVC6SPECThGq0bWZnTW8N1vBrrBjzAali0wnpjKQIDAQAB";

/** A character-string holds at most 255 bytes (RFC 1035 §3.3), so a long record is several of them. */
const cut = (text: string): readonly string[] => text.match(/.{1,255}/g) ?? [];

const MX = [[10, "mx.valid.ZONE"]] as const;
const dkim = (key: string, tags = ""): Records => ({
  TXT: [cut(`v=DKIM1; k=rsa; ${tags}p=${key}`)],
});

const ELEVEN = Array.from({ length: 11 }, (_, index) => `i${index}`);

export const SENDERS: readonly Sender[] = [
  {
    name: "good",
    shows:
      "Everything as it should be: SPF -all, a 2048-bit DKIM key, DMARC reject with reports, TLS-RPT.",
    sendingIp: "192.0.2.10",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.10 mx -all"] },
      "selector1._domainkey": dkim(KEY_2048),
      _dmarc: { TXT: ["v=DMARC1; p=reject; rua=mailto:dmarc@good.senders.ZONE"] },
      "_smtp._tls": { TXT: ["v=TLSRPTv1; rua=mailto:tls@good.senders.ZONE"] },
    },
  },
  {
    name: "bare",
    shows: "An MX and nothing else: no SPF, no DKIM (the name does not exist), no DMARC.",
    sendingIp: "192.0.2.11",
    records: { "@": { MX } },
  },
  {
    name: "open",
    shows: "SPF ends in +all, so that anybody may send; DMARC only watches, without reports.",
    sendingIp: "192.0.2.12",
    records: {
      "@": { MX, TXT: ["v=spf1 mx +all"] },
      _dmarc: { TXT: ["v=DMARC1; p=none"] },
    },
  },
  {
    name: "lookups",
    shows: "SPF includes eleven others, one lookup more than RFC 7208 §4.6.4 allows.",
    sendingIp: "192.0.2.13",
    records: {
      "@": {
        MX,
        TXT: [
          cut(
            `v=spf1 ${ELEVEN.map((name) => `include:${name}.lookups.senders.ZONE `).join("")}-all`,
          ),
        ],
      },
      ...Object.fromEntries(
        ELEVEN.map((name, index) => [name, { TXT: [`v=spf1 ip4:192.0.2.${100 + index} -all`] }]),
      ),
      "s1._domainkey": dkim(KEY_2048),
      _dmarc: { TXT: ["v=DMARC1; p=quarantine; rua=mailto:dmarc@lookups.senders.ZONE"] },
    },
  },
  {
    name: "double",
    shows: "Two SPF records and two DMARC records, each of which makes both worthless.",
    sendingIp: "192.0.2.14",
    records: {
      "@": { MX, TXT: ["v=spf1 mx -all", "v=spf1 ip4:192.0.2.14 -all"] },
      _dmarc: { TXT: ["v=DMARC1; p=reject", "v=DMARC1; p=none"] },
    },
  },
  {
    name: "weak",
    shows:
      "SPF ~all, a 1024-bit DKIM key in test mode, a revoked key beside it, DMARC for a part of the mail.",
    sendingIp: "192.0.2.15",
    records: {
      "@": { MX, TXT: ["v=spf1 ip4:192.0.2.15 ~all"] },
      "default._domainkey": dkim(KEY_1024, "t=y; "),
      "mail._domainkey": dkim(""),
      _dmarc: { TXT: ["v=DMARC1; p=quarantine; pct=20"] },
    },
  },
  {
    name: "listed",
    shows: "Authenticated well, but sends from an address on the lab's blocklist.",
    sendingIp: LISTED_IP,
    records: {
      "@": { MX, TXT: [`v=spf1 ip4:${LISTED_IP} -all`] },
      "selector1._domainkey": dkim(KEY_2048),
      _dmarc: { TXT: ["v=DMARC1; p=reject; rua=mailto:dmarc@listed.senders.ZONE"] },
    },
  },
];

const reversed = (ip: string): string => ip.split(".").toReversed().join(".");

const LISTED: Records = { A: ["127.0.0.2"], TXT: ["Listed by the lab"] };

export const sendersZone = (zoneName: string): Zone => {
  const senders = SENDERS.flatMap(({ name, records }) =>
    Object.entries(records).map(([below, found]) => [
      `${below === "@" ? "" : `${below}.`}${name}.${SENDERS_BELOW}.${zoneName}`,
      named(found, zoneName),
    ]),
  );
  return {
    ...Object.fromEntries(senders),
    // RFC 5782 §5: a list that works has 127.0.0.2 and lacks 127.0.0.1.
    [`${reversed("127.0.0.2")}.${BLOCKLIST}.${zoneName}`]: LISTED,
    [`${reversed(LISTED_IP)}.${BLOCKLIST}.${zoneName}`]: LISTED,
    [`*.${REFUSING_BLOCKLIST}.${zoneName}`]: { A: ["127.255.255.254"] },
  };
};

const named = (records: Records, zoneName: string): Records =>
  JSON.parse(JSON.stringify(records).replaceAll("ZONE", zoneName)) as Records;
