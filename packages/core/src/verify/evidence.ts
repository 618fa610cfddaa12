import { type Address, smtpForm } from "../mail/address.ts";
import type { Asked } from "../mail/dns/recorded.ts";
import type { Lists } from "../mail/lists/lists.ts";
import type { Transcript } from "../mail/smtp/converse.ts";
import type { Judgement } from "./judge.ts";
import type { Answer } from "./recipient-check.ts";
import type { Evidence } from "./result.ts";

type Probed = {
  readonly address: Address | null;
  readonly asked: readonly Asked[];
  readonly mailHost: string | null;
  readonly answer: Answer | null;
};

/** What a verdict rests on, without what the same session said of other people. */
export const evidenceOf = (
  { address, asked, mailHost, answer }: Probed,
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
    answer && address ? ownPart(answer.transcript, [smtpForm(address), answer.decoy]) : [],
  score: parts,
  lists: versions,
});

/** A session serves many: what was asked about others, and answered, is nobody else's business. */
const ownPart = (transcript: Transcript, own: readonly (string | null)[]): Transcript => {
  let ours = true;
  return transcript.filter(({ who, text }) => {
    if (who === "client")
      ours = !text.startsWith("RCPT TO:") || own.some((one) => isAbout(text, one));
    return ours;
  });
};

const isAbout = (line: string, address: string | null): boolean =>
  address !== null && line.startsWith(`RCPT TO:<${address}>`);
