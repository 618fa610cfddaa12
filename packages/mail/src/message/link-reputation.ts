import { analyseBlocklists, type BlocklistListing } from "../blocklists/analyse.ts";
import type { Dns } from "../dns/dns.ts";
import type { DnsLookups } from "../dns/lookups.ts";
import { isDomain, parseDomain } from "../domain.ts";
import type { MessageLinks } from "./content/links.ts";
import { createFinding, type MessageFinding } from "./findings.ts";

export type LinkReputation = {
  readonly listedOn: readonly BlocklistListing[];
  readonly findings: readonly MessageFinding[];
};

/** The check asks every domain list about each name. */
const NAMES_MAX = 10;
/** Most lists contain the registered domain and not the hosts below it. */
const LEVELS_MAX = 3;

export const checkLinks = async (
  listDns: Dns,
  { hosts }: MessageLinks,
  { listsFor, keys, isHealthy }: DnsLookups["blocklists"],
): Promise<LinkReputation> => {
  const names = new Set(hosts.map(({ host }) => host).flatMap(listNames));
  const found = await Promise.all(
    [...names].slice(0, NAMES_MAX).map((domain) => {
      const lists = listsFor(domain).filter(({ asks }) => asks === "domain");
      return analyseBlocklists(listDns, { domain, ip: null, lists, keys, isHealthy });
    }),
  );
  const listed = found.flatMap(({ issues }) => issues).filter(({ costPoints }) => costPoints > 0);
  return {
    listedOn: found.flatMap(({ listedOn }) => listedOn),
    findings: listed.slice(0, 1).map(({ detail }) => createFinding("LINK_LISTED", detail)),
  };
};

const listNames = (host: string): readonly string[] => {
  const parsed = parseDomain(host);
  if (!isDomain(parsed)) return [];
  const labels = parsed.ascii.replace(/^www\./, "").split(".");
  const names = labels.map((_, index) => labels.slice(index).join("."));
  return names.slice(0, -1).slice(-LEVELS_MAX);
};
