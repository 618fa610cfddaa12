import type { SourceSums } from "./report.ts";
import { SENDER_SERVICES, type SenderService } from "./sender-table.ts";
import { countUnaligned } from "./source-sums.ts";

const ADVICE_TEXTS = {
  aligned: "Nothing to do: this mail is aligned.",
  forwarded: "Nothing to do: receivers report this mail as forwarded or as from a mailing list.",
  add_dkim:
    "Sign this mail with DKIM as {domain}{selectors}: only SPF aligns it, and forwarding breaks SPF.",
  add_service:
    "Set up DKIM for {domain} at {title}{selectors}, and add include:{include} to the SPF record.",
  add_service_dkim: "Set up DKIM for {domain} at {title}{selectors}: SPF cannot align its mail.",
  signs_as_other:
    "If you use this sender, have it sign with DKIM as {domain}: its mail passes only as {other}.",
  unknown_source:
    "If this sender is yours, add {term} to SPF and sign with DKIM; otherwise a strict policy stops it.",
  partly_aligned:
    "Some of this mail is aligned. If the rest is yours, sign it with DKIM as {domain}, too.",
  small_sources:
    "Look at the larger sources first: this is the sum of the smallest ones of a very long report.",
} as const;

export type AdviceCode = keyof typeof ADVICE_TEXTS;
export const ADVICE_CODES = Object.keys(ADVICE_TEXTS) as [AdviceCode, ...AdviceCode[]];

export type Advice = {
  readonly code: AdviceCode;
  readonly text: string;
  readonly spfTerm: string | null;
};

/** Even good mail is sometimes broken in transit. */
const UNALIGNED_SHARE_MAX = 0.02;

const isBelow = (name: string, ends: readonly string[]): boolean =>
  ends.some((end) => name === end || name.endsWith(`.${end}`));

/** Finds the service of this source by its authenticated domains, which no other sender can use, or by the host's name. */
export const findSenderService = ({
  ip,
  authenticated,
  host,
}: Pick<SourceSums, "ip" | "authenticated" | "host">): SenderService | undefined => {
  // The sum of the smallest sources mixes the domains of many senders.
  if (ip === null) return undefined;
  const domains = Object.keys(authenticated);
  return (
    SENDER_SERVICES.find((row) => domains.some((domain) => isBelow(domain, row.domains))) ??
    (host === undefined ? undefined : SENDER_SERVICES.find(({ hosts }) => isBelow(host, hosts)))
  );
};

/** `addresses`: the number of addresses of a sender whose sums are added up in `source`. */
export const advise = (source: SourceSums, domain: string, addresses = 1): Advice => {
  const service = findSenderService(source);
  const names = Object.keys(source.authenticated).filter((name) => name !== domain);
  const other = names.find((name) => !isBelow(name, [domain])) ?? names[0];
  // A forwarder may use a host of a service: its mail passes as another domain, and as none of the service.
  const isForwarder =
    other !== undefined && !names.some((name) => isBelow(name, service?.domains ?? []));
  const code = chooseAdvice(source, isForwarder ? undefined : service, other);
  const ownTerm = source.ip === null || addresses > 1 ? null : toIpTerm(source.ip);
  const values: Readonly<Record<string, string>> = {
    domain,
    other: other ?? "",
    title: service?.title ?? "",
    include: service?.include ?? "",
    selectors: service?.selectors ? ` (selector ${service.selectors.join(", ")})` : "",
    term: ownTerm ?? "its addresses",
  };
  const text = ADVICE_TEXTS[code].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
  return { code, text, spfTerm: chooseTerm(code, service, ownTerm) };
};

const chooseAdvice = (
  source: SourceSums,
  service: SenderService | undefined,
  other: string | undefined,
): AdviceCode => {
  const { ip, messages, aligned, dkimAligned, forwarded } = source;
  if (countUnaligned(source) <= messages * UNALIGNED_SHARE_MAX) {
    if (forwarded > aligned) return "forwarded";
    return dkimAligned * 2 < aligned ? "add_dkim" : "aligned";
  }
  if (ip === null) return "small_sources";
  // A sender that signs most of its mail is set up: the rest is unsigned, or broken in transit.
  if (dkimAligned * 2 > messages - forwarded) return "partly_aligned";
  if (service) return service.include === undefined ? "add_service_dkim" : "add_service";
  if (other !== undefined) return "signs_as_other";
  return aligned > 0 ? "partly_aligned" : "unknown_source";
};

const chooseTerm = (
  code: AdviceCode,
  service: SenderService | undefined,
  ownTerm: string | null,
): string | null => {
  if (code === "add_service" && service?.include !== undefined) return `include:${service.include}`;
  return code === "unknown_source" ? ownTerm : null;
};

const toIpTerm = (ip: string): string => `${ip.includes(":") ? "ip6" : "ip4"}:${ip}`;
