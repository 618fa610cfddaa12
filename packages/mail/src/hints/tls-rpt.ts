import { type Dns, getRecords, isFault } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import { findMeant, listRepeated, parseTagList } from "../tag-list.ts";
import { createHint } from "./rules.ts";

/** Checks whether a domain gets reports about failed encryption of its incoming mail (RFC 8460 §3). */
export const findTlsRptHints = async (dns: Dns, domain: string): Promise<readonly Issue[]> => {
  const outcome = await dns("TXT", `_smtp._tls.${domain}`);
  if (isFault(outcome)) return [];
  const [record, ...others] = findMeant(getRecords(outcome), VERSION, "TLSRPTv1");
  if (record === undefined) return [createHint("TLS_RPT_MISSING", { domain })];
  const bad = (fault: string) => [createHint("TLS_RPT_BAD", { domain, fault })];
  if (others.length > 0) return bad("there is more than one");
  if (!VERSION.test(`${record};`)) return bad("it does not start with exactly v=TLSRPTv1;");
  const { tags } = parseTagList(record);
  const [repeated] = listRepeated(tags.map(({ name }) => name));
  if (repeated !== undefined) return bad(`it has ${repeated}= more than once`);
  const rua = tags.find(({ name }) => name === "rua")?.value ?? "";
  const uris = rua.split(",").map((uri) => uri.trim());
  return uris.every((uri) => REPORTS_TO.test(uri))
    ? []
    : bad("rua= has no mailto: or https: address");
};

const VERSION = /^v=TLSRPTv1[\t ]*;/;
const REPORTS_TO = /^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/i;
