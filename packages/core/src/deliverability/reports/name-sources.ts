import { withDeadline } from "@mailproof/mail/dns/deadline";
import type { Dns } from "@mailproof/mail/dns/dns";
import { getRecords } from "@mailproof/mail/dns/outcome";
import { isSameIp, parseIp, toReverseName } from "@mailproof/mail/ip";
import type { World } from "../../ports/world.ts";
import type { SourceSums } from "./report.ts";

/** Only the largest sources of a report get names, because each name needs two queries. */
const NAMED_MAX = 50;
const BUDGET_MS = 3_000;
const NAME_LENGTH_MAX = 253;

/**
 * Adds the names of the largest sources. A name counts only if it resolves back to the address, since the owner of an address
 * may give it any name (RFC 8601 §2.7.3). Without an answer a source has no name.
 */
export const nameSources = async (
  { now, sleep }: Pick<World, "now" | "sleep">,
  dns: Dns,
  sources: readonly SourceSums[],
): Promise<readonly SourceSums[]> => {
  const limits = { budgetMs: BUDGET_MS, questionsMax: 2 * NAMED_MAX, now, sleep };
  const bounded = withDeadline(dns, limits);
  const named = sources.slice(0, NAMED_MAX).map(async (source) => {
    const host = source.ip === null ? undefined : await findHostName(bounded, source.ip);
    return host === undefined ? source : { ...source, host };
  });
  return [...(await Promise.all(named)), ...sources.slice(NAMED_MAX)];
};

const findHostName = async (dns: Dns, text: string): Promise<string | undefined> => {
  const ip = parseIp(text);
  if (!ip) return undefined;
  const [name] = getRecords(await dns("PTR", toReverseName(ip)));
  const host = name?.toLowerCase().replace(/\.$/, "");
  if (host === undefined || host.length > NAME_LENGTH_MAX) return undefined;
  const addresses = getRecords(await dns(ip.bits === 32 ? "A" : "AAAA", host));
  return addresses.some((address) => isSameIp(parseIp(address), ip)) ? host : undefined;
};
