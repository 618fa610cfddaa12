import type { VerificationResult as ApiResult } from "@mailproof/api/schema/verification";
import type { VerificationResult } from "@mailproof/client/types";
import { explainContinuation, formatFollowCommand, waitForJob } from "./follow-job.ts";
import { openOutput, writeOutput } from "./output.ts";
import { type Service, watchInterrupt } from "./service.ts";
import type { ResultFormat } from "./show-results.ts";
import { replaceControls } from "./terminal.ts";

type VerifyAddressesOptions = {
  readonly out: string | undefined;
  readonly force: boolean;
  readonly evidence: boolean;
};

/** Verifies addresses one by one with a service; printed like local results. */
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
      // The client leaves the evidence open: another version of the service may have other fields.
      await writeOutput(out, show.line(result as ApiResult, [email]));
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
