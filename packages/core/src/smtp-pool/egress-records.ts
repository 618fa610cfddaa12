import { parseIp, toReverseName } from "../mail/ip.ts";

export type ZoneRecord = {
  readonly name: string;
  readonly type: "A" | "AAAA" | "MX" | "PTR" | "TXT";
  readonly value: string;
  readonly why: string;
};

export type ProbeIdentity = {
  /** A name for this alone, below one that people know: probe.example.com. In A-labels. */
  readonly domain: string;
  /** The addresses that sessions come from. */
  readonly ips: readonly string[];
  /** The host that takes mail for the sender's mailbox. */
  readonly mx: string;
};

export const toSenderAddress = (domain: string): string => `probe@${domain}`;

/**
 * What must stand in the DNS before anybody may ask mail servers from these addresses: one name that is said in EHLO,
 * leads to the addresses and back, and is the domain of a sender that takes mail, and of whom nobody else sends any.
 */
export const buildProbeRecords = ({ domain, ips, mx }: ProbeIdentity): readonly ZoneRecord[] => {
  const addresses = ips.map((text) => ({ text, ip: parseKnownIp(text) }));
  return [
    ...addresses.map(({ text, ip }) => ({
      name: domain,
      type: ip.bits === 32 ? ("A" as const) : ("AAAA" as const),
      value: text,
      why: "the name in EHLO leads to the address",
    })),
    ...addresses.map(({ ip }) => ({
      name: toReverseName(ip),
      type: "PTR" as const,
      value: `${domain}.`,
      why: "and back; whoever owns the address sets this, not you",
    })),
    { name: domain, type: "MX", value: `10 ${mx}.`, why: "the sender's mailbox takes mail" },
    {
      name: domain,
      type: "TXT",
      value: `v=spf1 ${addresses.map(({ text, ip }) => `ip${ip.bits === 32 ? 4 : 6}:${text}`).join(" ")} -all`,
      why: "the sender may come from these addresses and no others",
    },
    {
      name: `_dmarc.${domain}`,
      type: "TXT",
      value: "v=DMARC1; p=reject; adkim=s; aspf=s",
      why: "no letter is ever sent in this name, so none is genuine",
    },
  ];
};

const parseKnownIp = (text: string) => {
  const ip = parseIp(text);
  if (!ip) throw new RangeError(`${text} is no IP address`);
  return ip;
};

/** As it stands in a zone file. */
export const formatZoneLine = ({ name, type, value }: ZoneRecord): string =>
  `${name}. 3600 IN ${type} ${type === "TXT" ? `"${value}"` : value}`;
