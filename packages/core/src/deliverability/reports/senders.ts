import { parseIp } from "@mailproof/mail/ip";
import { type Advice, advise, findSenderService } from "./advise.ts";
import type { SourceSums } from "./report.ts";
import { countUnaligned, mergeSources } from "./source-sums.ts";

// People know who sends for them by name, and not by address. A sender is a known service; otherwise the domain of the hosts'
// names; without names, the network of the addresses.

export type Sender = {
  /** Null for the sum of the smallest sources, whose addresses are unknown. */
  readonly name: string | null;
  /** The name of a known service. Null for other senders. */
  readonly provider: string | null;
  readonly sources: number;
  readonly total: SourceSums;
  readonly advice: Advice;
};

/** Groups sources by sender, the largest sender first. */
export const listSenders = (sources: readonly SourceSums[], domain: string): readonly Sender[] =>
  [...Map.groupBy(sources, nameSender)]
    .map(([name, group]) => toSender(name, group, domain))
    .toSorted((one, other) => other.total.messages - one.total.messages);

const nameSender = (source: SourceSums): string | null => {
  const service = findSenderService(source);
  if (service) return service.title;
  if (source.host !== undefined) return toRegisteredDomain(source.host);
  return source.ip === null ? null : toNetworkName(source.ip);
};

/** Judges the sums of all sources by the facts of the one with the most unaligned mail, which is the one to correct. */
const toSender = (name: string | null, group: readonly SourceSums[], domain: string): Sender => {
  const worst = group.reduce((a, b) => (countUnaligned(b) > countUnaligned(a) ? b : a));
  const total = mergeSources(group, null);
  const { ip, authenticated } = worst;
  return {
    name,
    provider: findSenderService(worst)?.name ?? null,
    sources: group.length,
    total,
    advice: advise({ ...worst, ...total, ip, authenticated }, domain, group.length),
  };
};

/**
 * Two labels, or three below an ending such as co.uk. The public suffix list would know more such endings; a name that is cut
 * too short only shows two senders in one line.
 */
const toRegisteredDomain = (host: string): string => {
  const labels = host.split(".");
  const isBelowCountry = /^(?:ac|co|com|edu|gov|ne|net|or|org)\.[a-z]{2}$/.test(
    labels.slice(-2).join("."),
  );
  return labels.slice(isBelowCountry ? -3 : -2).join(".");
};

const toNetworkName = (text: string): string => {
  const ip = parseIp(text);
  if (ip?.bits === 32) return `${text.split(".").slice(0, 3).join(".")}.0/24`;
  if (!ip) return text;
  const groups = [112n, 96n, 80n].map((shift) => ((ip.value >> shift) & 0xffffn).toString(16));
  return `${groups.join(":")}::/48`;
};
