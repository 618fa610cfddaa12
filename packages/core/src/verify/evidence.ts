import { type Address, toSmtpForm } from "@mailproof/mail/address";
import type { RecordedQuery } from "@mailproof/mail/dns/mail-hosts";
import type { Lists } from "@mailproof/mail/lists/lists";
import { findMailProvider } from "@mailproof/mail/mail-providers";
import { findUngivenName } from "@mailproof/mail/name-rules";
import type { Transcript } from "@mailproof/mail/smtp/converse";
import type { ProbeResult } from "../smtp-pool/probe.ts";
import type { Judgement } from "./judge.ts";
import { recordJudged } from "./judged-record.ts";
import type { Evidence } from "./result.ts";
import type { JudgedInput, Signals } from "./signals.ts";

type Probed = {
  readonly address: Address | null;
  readonly listed: Pick<Signals["listed"], "disposableHint">;
  readonly dnsQueries: readonly RecordedQuery[];
  readonly mailHost: string | null;
  readonly probeResult: ProbeResult | null;
  readonly bouncedAt: string | null;
};

/** Collects the evidence of a verdict, without the parts of the session that concern other recipients. */
export const collectEvidence = (
  { address, listed, dnsQueries, mailHost, probeResult, bouncedAt }: Probed,
  judged: JudgedInput,
  { parts }: Judgement,
  { edition, versions }: Pick<Lists, "edition" | "versions">,
): Evidence => ({
  dns: dnsQueries,
  mailHost,
  ...findReceiver(mailHost),
  ip: probeResult?.ip || null,
  reply: probeResult?.reply ?? null,
  rule: probeResult?.finding.rule ?? null,
  catchAll: probeResult?.catchAll ?? "not_tested",
  transcript:
    probeResult && address
      ? filterTranscript(probeResult.transcript, [toSmtpForm(address), probeResult.randomRecipient])
      : [],
  ...findHintLists(listed.disposableHint, versions),
  ...findNameRule(address),
  bouncedAt,
  score: parts,
  judged: recordJudged(judged),
  listsEdition: edition,
  lists: versions,
});

const findHintLists = (
  isHinted: boolean,
  versions: Lists["versions"],
): Pick<Evidence, "disposableHint"> => {
  const broad = versions.find(({ list }) => list === "broad");
  return isHinted && broad
    ? { disposableHint: { source: broad.source, version: broad.version } }
    : {};
};

const findNameRule = (address: Address | null): Pick<Evidence, "nameRule"> => {
  const nameRule = address && findUngivenName(address);
  return nameRule ? { nameRule } : {};
};

const findReceiver = (mailHost: string | null): Pick<Evidence, "receiver"> => {
  const { name } = findMailProvider(mailHost ?? "");
  return name === "other" ? {} : { receiver: name };
};

/** A session serves many recipients. The evidence of one recipient must not show commands and replies about another. */
const filterTranscript = (transcript: Transcript, own: readonly (string | null)[]): Transcript => {
  const starts = own.flatMap((one) => (one === null ? [] : `RCPT TO:<${one}>`));
  let ours = true;
  return transcript.filter(({ who, text }) => {
    if (who === "client")
      ours = !text.startsWith("RCPT TO:") || starts.some((start) => text.startsWith(start));
    return ours;
  });
};
