import { smtpForm } from "../mail/address.ts";
import type { Lists } from "../mail/lists/lists.ts";
import type { Transcript } from "../mail/smtp/converse.ts";
import type { Judgement } from "./judge.ts";
import type { Evidence } from "./result.ts";
import type { Found } from "./verify.ts";

/** What a verdict rests on, without what the same session said of other people. */
export const evidenceOf = (
  { address, asked, mailHost, answer }: Found,
  { parts }: Judgement,
  versions: Lists["versions"],
): Evidence => ({
  dns: asked,
  mailHost,
  ip: answer?.ip || null,
  reply: answer?.reply ?? null,
  rule: answer?.finding.rule ?? null,
  catchAll: answer?.catchAll ?? "not_tested",
  transcript:
    answer && address ? ownPart(answer.transcript, smtpForm(address), address.domain) : [],
  score: parts,
  lists: versions,
});

/** A session serves many: what was asked about others, and answered, is nobody else's business. */
const ownPart = (transcript: Transcript, recipient: string, domain: string): Transcript => {
  let ours = true;
  return transcript.filter(({ who, text }) => {
    if (who === "client") ours = !text.startsWith("RCPT TO:") || isOurs(text, recipient, domain);
    return ours;
  });
};

const DECOY = /^RCPT TO:<[a-z][a-z0-9]{19}@/;

const isOurs = (line: string, recipient: string, domain: string): boolean =>
  line.startsWith(`RCPT TO:<${recipient}>`) || (DECOY.test(line) && line.includes(`@${domain}>`));
