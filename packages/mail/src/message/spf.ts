import { domainToASCII } from "node:url";
import type { Dns } from "../dns/dns.ts";
import { evaluateSpf, type SpfEvaluation } from "../spf/evaluate.ts";
import type { SpfResult } from "../spf/verdict.ts";
import { getAddressDomain } from "./parse/addresses.ts";
import type { ReceivedMessage } from "./received-message.ts";

export type MessageSpf = {
  readonly result: SpfResult;
  /** The domain of MAIL FROM, or the HELO name when MAIL FROM is empty, in A-labels. */
  readonly domain: string;
  readonly identity: "mailfrom" | "helo";
  readonly matched: SpfEvaluation["matched"];
  readonly problem: SpfEvaluation["problem"];
  readonly lookups: number;
  /** The result for the HELO name alone (RFC 7208 §2.3). */
  readonly helo: SpfResult;
};

export const toALabels = (domain: string): string => domainToASCII(domain) || domain.toLowerCase();

/** Checks whether the client may send for the domain of MAIL FROM (RFC 7208). */
export const checkSpf = async (
  dns: Dns,
  { mailFrom, helo, ip }: Pick<ReceivedMessage, "mailFrom" | "helo" | "ip">,
): Promise<MessageSpf> => {
  const heloName = toALabels(helo);
  const check = (domain: string, sender: string) =>
    evaluateSpf(dns, { ip, domain, sender, helo: heloName });
  const ofHelo = await check(heloName, "");
  if (mailFrom === "")
    return { ...pick(ofHelo), domain: heloName, identity: "helo", helo: ofHelo.result };
  const domain = toALabels(getAddressDomain(mailFrom));
  const sender = `${mailFrom.slice(0, Math.max(0, mailFrom.lastIndexOf("@")))}@${domain}`;
  return {
    ...pick(await check(domain, sender)),
    domain,
    identity: "mailfrom",
    helo: ofHelo.result,
  };
};

const pick = ({ result, matched, problem, lookups }: SpfEvaluation) => ({
  result,
  matched,
  problem,
  lookups,
});
