import { parseIp, toReverseName } from "@mailproof/mail/ip";

export type ZoneRecord = {
  readonly name: string;
  readonly type: "A" | "AAAA" | "MX" | "PTR" | "TXT";
  readonly value: string;
  readonly why: string;
};

export type ProbeIdentity = {
  /** A host name only for probing, below a public domain, such as probe.example.com. In A-labels. */
  readonly domain: string;
  readonly ips: readonly string[];
  /** The mail host of the sender's mailbox. */
  readonly mx: string;
};

export const toSenderAddress = (domain: string): string => `probe@${domain}`;

/**
 * Builds the DNS records that these IP addresses need before they may probe: one EHLO name that resolves to the addresses and
 * back. The name is also the domain of a sender that accepts mail and for which no other host may send.
 */
export const buildProbeRecords = ({ domain, ips, mx }: ProbeIdentity): readonly ZoneRecord[] => {
  const addresses = ips.map((text) => ({ text, ip: requireIp(text) }));
  return [
    ...addresses.map(({ text, ip }) => ({
      name: domain,
      type: ip.bits === 32 ? ("A" as const) : ("AAAA" as const),
      value: text,
      why: "the EHLO name resolves to the IP address",
    })),
    ...addresses.map(({ ip }) => ({
      name: toReverseName(ip),
      type: "PTR" as const,
      value: `${domain}.`,
      why: "the IP address resolves to the EHLO name; the owner of the IP address sets this record",
    })),
    { name: domain, type: "MX", value: `10 ${mx}.`, why: "the sender's mailbox accepts mail" },
    {
      name: domain,
      type: "TXT",
      value: `v=spf1 ${addresses.map(({ text, ip }) => `ip${ip.bits === 32 ? 4 : 6}:${text}`).join(" ")} -all`,
      why: "only these IP addresses may send for this domain",
    },
    {
      name: `_dmarc.${domain}`,
      type: "TXT",
      value: "v=DMARC1; p=reject; adkim=s; aspf=s",
      why: "no message is ever sent from this domain, so reject all",
    },
  ];
};

const requireIp = (text: string) => {
  const ip = parseIp(text);
  if (!ip) throw new RangeError(`${text} is not an IP address`);
  return ip;
};

export const formatZoneLine = ({ name, type, value }: ZoneRecord): string =>
  `${name}. 3600 IN ${type} ${type === "TXT" ? `"${value}"` : value}`;
