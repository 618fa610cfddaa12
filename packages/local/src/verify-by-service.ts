import type { VerificationResult } from "@mailproof/client/types";
import type { Evidence, Verification } from "@mailproof/core/verify/result";
import { howToFollow, howToGoOn, waitForJob } from "./follow-job.ts";
import { openOut, print } from "./out.ts";
import { type Service, untilInterrupted } from "./service.ts";
import { asJson, type Show } from "./show-results.ts";
import { shown } from "./terminal.ts";

type WordsOptions = {
  readonly out: string | undefined;
  readonly force: boolean;
  readonly evidence: boolean;
};

/** Addresses one by one, by a service, printed as the engine's own are. */
export const verifyWordsByService = async (
  service: Service,
  emails: readonly string[],
  show: Show,
  { out: file, force, evidence }: WordsOptions,
): Promise<number> => {
  const out = await openOut(file, force);
  const { signal, end } = untilInterrupted();
  await print(out, show.first);
  try {
    for (const email of emails) {
      const result = await verified(service, email, evidence, signal);
      const line =
        show === asJson ? `${JSON.stringify(result)}\n` : show.line(asOurs(result), [email]);
      await print(out, line);
    }
  } finally {
    end();
    if (out !== process.stdout) out.end();
  }
  return 0;
};

/** A verification that takes long becomes a job of one address, which is already paid for. */
const verified = async (
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
  process.stderr.write(`${id}: ${shown(email)} takes longer. Waiting for its result.\n`);
  const how = howToFollow(url, id, { out: undefined, json: true, force: false });
  const { status, error } = await waitForJob(client, id, signal).catch((cause: unknown) => {
    throw new Error(howToGoOn(cause, id, how, signal), { cause });
  });
  for await (const row of client.results({ id }, { signal })) return row;
  throw new Error(`${id}: ${status}. ${error ?? ""}`);
};

/** As the engine in this process says it, for whoever prints what it says. */
const asOurs = ({
  verification,
  flags,
  ai,
  evidence,
  ...told
}: VerificationResult): Verification => ({
  email: told.email,
  status: told.status,
  score: told.quality_score,
  reason: told.reason,
  subStatus: told.sub_status,
  provider: told.provider,
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
  enrichment: told.enrichment as Verification["enrichment"],
  ...(ai && {
    ai: {
      typoSuggestion: ai.typo_suggestion,
      typoConfidence: ai.typo_confidence,
      catchAllConfidence: ai.catch_all_confidence ?? null,
    },
  }),
  ...(evidence && { evidence: toEvidence(evidence) }),
  retry: null,
  verifiedAt: told.verified_at,
});

/** The reverse of what the API does with our own. */
const toEvidence = (wire: NonNullable<VerificationResult["evidence"]>): Evidence => {
  const { mail_host: mailHost, catch_all: catchAll, ...same } = wire;
  return { ...same, mailHost, catchAll } as unknown as Evidence;
};
