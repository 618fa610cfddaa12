import type { DatedSource } from "./merge-reports.ts";
import type { SourceSums } from "./report.ts";
import { SENDER_SERVICES, type SenderService } from "./sender-table.ts";
import { countUnaligned } from "./source-sums.ts";

const ADVICE_TEXTS = {
  aligned: "This mail is aligned. There is nothing to do.",
  forwarded:
    "Receivers report this mail as forwarded, or as from a mailing list, which breaks SPF and may break DKIM. There is nothing to do here; mail with a DKIM signature of {domain} survives most forwarding.",
  add_dkim:
    "This mail is aligned only by SPF, which fails as soon as mail is forwarded. Sign it with DKIM as {domain}{selectors}.",
  add_service:
    "{title} sends {rate} for {domain} unaligned. Add include:{include} to the SPF record of {domain} if bounces return to it, and set up DKIM for {domain} at {title}{selectors}.",
  add_service_dkim:
    "{title} sends {rate} for {domain} unaligned. Set up DKIM for {domain} at {title}{selectors}; an include in the SPF record does not align this mail.",
  signs_as_other:
    "This source sends {rate} as {domain} and passes as {other}. If you use it, have it sign with DKIM as {domain}; otherwise a policy of quarantine or reject stops it.",
  unknown_source:
    "This source sends {rate} as {domain} and passes nothing. If it is your server, add {term} to the SPF record and sign with DKIM; otherwise another sender uses your domain, and a policy of quarantine or reject stops it.",
  small_sources: "The sum of the addresses that send least in a report of very many addresses.",
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

/** Finds the service of this source by its authenticated domains, which no other sender can use, or by the host's name. */
export const findSenderService = ({
  authenticated,
  host,
}: Pick<SourceSums, "authenticated" | "host">): SenderService | undefined => {
  const isBelow = (name: string, ends: readonly string[]): boolean =>
    ends.some((end) => name === end || name.endsWith(`.${end}`));
  const domains = Object.keys(authenticated);
  return (
    SENDER_SERVICES.find((row) => domains.some((domain) => isBelow(domain, row.domains))) ??
    (host === undefined ? undefined : SENDER_SERVICES.find(({ hosts }) => isBelow(host, hosts)))
  );
};

export const advise = (source: DatedSource, domain: string): Advice => {
  const service = findSenderService(source);
  const code = chooseAdvice(source, service);
  const other = Object.keys(source.authenticated)[0] ?? "";
  const ownTerm = source.ip === null ? null : toIpTerm(source.ip);
  const values: Readonly<Record<string, string>> = {
    domain,
    other,
    rate: formatRate(source),
    title: service?.title ?? "",
    include: service?.include ?? "",
    selectors: service?.selectors ? ` (selector ${service.selectors.join(", ")})` : "",
    term: ownTerm ?? "",
  };
  const text = ADVICE_TEXTS[code].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
  return { code, text, spfTerm: chooseTerm(code, service, ownTerm) };
};

const chooseAdvice = (source: SourceSums, service: SenderService | undefined): AdviceCode => {
  const { ip, messages, aligned, dkimAligned, forwarded, authenticated } = source;
  if (countUnaligned(source) <= messages * UNALIGNED_SHARE_MAX) {
    if (forwarded > aligned) return "forwarded";
    return dkimAligned * 2 < aligned ? "add_dkim" : "aligned";
  }
  if (ip === null) return "small_sources";
  if (service) return service.include === undefined ? "add_service_dkim" : "add_service";
  return Object.keys(authenticated).length > 0 ? "signs_as_other" : "unknown_source";
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

const formatRate = (source: DatedSource): string => {
  const days = (Date.parse(source.lastDay) - Date.parse(source.firstDay)) / 86_400_000 + 1;
  const perDay = countUnaligned(source) / days;
  const rounded = perDay >= 1 ? Math.round(perDay).toLocaleString("en") : "less than one";
  return rounded === "1" || perDay < 1 ? `${rounded} message a day` : `${rounded} messages a day`;
};
