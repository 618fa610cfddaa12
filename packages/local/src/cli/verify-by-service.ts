import type { VerificationResult } from "@mailproof/client/types";
import type { Evidence, Verification } from "@mailproof/core/verify/result";
import { explainContinuation, formatFollowCommand, waitForJob } from "./follow-job.ts";
import { openOutput, writeOutput } from "./output.ts";
import { type Service, watchInterrupt } from "./service.ts";
import { jsonFormat, type ResultFormat } from "./show-results.ts";
import { replaceControls } from "./terminal.ts";

type VerifyAddressesOptions = {
  readonly out: string | undefined;
  readonly force: boolean;
  readonly evidence: boolean;
};

/** Addresses one by one, by a service, printed as the engine's own are. */
export const verifyAddressesByService = async (
  service: Service,
  emails: readonly string[],
  show: ResultFormat,
  { out: file, force, evidence }: VerifyAddressesOptions,
): Promise<number> => {
  const out = await openOutput(file, force);
  const { signal, end } = watchInterrupt();
  await writeOutput(out, show.first);
  try {
    for (const email of emails) {
      const result = await verifyAddress(service, email, evidence, signal);
      const line =
        show === jsonFormat
          ? `${JSON.stringify(result)}\n`
          : show.line(toVerification(result), [email]);
      await writeOutput(out, line);
    }
  } finally {
    end();
    if (out !== process.stdout) out.end();
  }
  return 0;
};

/** A verification that takes long becomes a job of one address, which is already paid for. */
const verifyAddress = async (
  { client, url }: Service,
  email: string,
  evidence: boolean,
  signal: AbortSignal,
): Promise<VerificationResult> => {
  const first = await client.verifyEmail(
    { email, options: { include_evidence: evidence } },
    { signal },
  );
  if (first.status !== "pending") return first;
  const id = first.job_id;
  process.stderr.write(`${id}: ${replaceControls(email)} takes longer. Waiting for its result.\n`);
  const how = formatFollowCommand(url, id, { out: undefined, json: true, force: false });
  const { status, error } = await waitForJob(client, id, signal).catch((cause: unknown) => {
    throw new Error(explainContinuation(cause, id, how, signal), { cause });
  });
  for await (const row of client.results({ id }, { signal })) return row;
  throw new Error(`${id}: ${status}. ${error ?? ""}`);
};

/** As the engine in this process says it, for whoever prints what it says. */
const toVerification = ({
  verification,
  flags,
  ai,
  evidence,
  ...fields
}: VerificationResult): Verification => ({
  email: fields.email,
  status: fields.status,
  score: fields.quality_score,
  reason: fields.reason,
  subStatus: fields.sub_status,
  provider: fields.provider,
  verification: {
    syntaxValid: verification.syntax_valid,
    domainExists: verification.domain_exists ?? false,
    mxFound: verification.mx_found,
    smtpCheck: verification.smtp_check,
    mailboxExists: verification.mailbox_exists,
    catchAll: verification.catch_all,
  },
  flags: {
    disposable: flags.disposable,
    roleAccount: flags.role_account,
    freeProvider: flags.free_provider,
    spamTrap: flags.spam_trap,
    honeypot: flags.honeypot,
    botGenerated: flags.bot_generated,
  },
  enrichment: fields.enrichment as Verification["enrichment"],
  ...(ai && {
    ai: {
      typoSuggestion: ai.typo_suggestion,
      typoConfidence: ai.typo_confidence,
      catchAllConfidence: ai.catch_all_confidence ?? null,
    },
  }),
  ...(evidence && { evidence: toEvidence(evidence) }),
  retry: null,
  verifiedAt: fields.verified_at,
});

/** The reverse of what the API does with our own. */
const toEvidence = (wire: NonNullable<VerificationResult["evidence"]>): Evidence => {
  const { mail_host: mailHost, catch_all: catchAll, ...same } = wire;
  return { ...same, mailHost, catchAll } as unknown as Evidence;
};
