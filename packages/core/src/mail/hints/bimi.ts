import type { DmarcAnalysis } from "../dmarc/analyse.ts";
import type { Dns } from "../dns/dns.ts";
import { getRecords, isFault } from "../dns/outcome.ts";
import type { Issue } from "../issue.ts";
import { parseTagList } from "../tag-list.ts";
import { createHint } from "./rules.ts";

type BimiInput = {
  readonly domain: string;
  readonly dmarc: Pick<DmarcAnalysis, "status" | "policy" | "record">;
};

/** Whether mailboxes may show a domain's logo. They ask that forged mail be kept away first. */
export const findBimiHints = async (
  dns: Dns,
  { domain, dmarc }: BimiInput,
): Promise<readonly Issue[]> => {
  const outcome = await dns("TXT", `default._bimi.${domain}`);
  if (isFault(outcome)) return [];
  const [record, ...others] = getRecords(outcome).filter((text) => VERSION.test(text));
  if (record === undefined) return [createHint("BIMI_MISSING", { domain })];
  const bad = (fault: string) => [createHint("BIMI_BAD", { domain, fault })];
  if (others.length > 0) return bad("there is more than one");

  const valueOf = (name: string) =>
    parseTagList(record).tags.find((tag) => tag.name.toLowerCase() === name)?.value;
  const logo = valueOf("l");
  const proof = valueOf("a") ?? "";
  if (logo === undefined) return bad("it has no l=");
  // An empty l= and no proof: the domain says that it shows no logo, which is sound.
  if (logo !== "" && !/^https:\/\/\S+$/i.test(logo)) return bad("l= is no https address");
  if (proof !== "" && !/^https:\/\/\S+$/i.test(proof)) return bad("a= is no https address");
  if (logo === "" || dmarc.status === "error") return [];
  return isEnforced(dmarc) ? [] : bad("DMARC must be quarantine or reject, for all mail");
};

const VERSION = /^v\s*=\s*BIMI1\s*(?:;|$)/i;

const isEnforced = ({ policy, record }: BimiInput["dmarc"]): boolean => {
  const pct = parseTagList(record ?? "").tags.find(({ name }) => name.toLowerCase() === "pct");
  return policy !== null && policy !== "none" && (pct === undefined || pct.value === "100");
};
