import { finished } from "node:stream/promises";
import type { VerificationResult as ApiResult } from "@mailproof/api/schema/verification";
import { MailproofError } from "@mailproof/client/errors";
import type { VerificationResult } from "@mailproof/client/types";
import type { Status } from "@mailproof/core/verify/result";
import { explainContinuation, formatFollowCommand, waitForJob } from "./follow-job.ts";
import { writeNote } from "./notes.ts";
import { openOutput, writeOutput } from "./output.ts";
import { createResultSummary } from "./result-summary.ts";
import type { ListResult } from "./result-table.ts";
import { type Service, watchInterrupt } from "./service.ts";
import { countResults, type ResultFormat } from "./show-results.ts";
import { replaceControls } from "./terminal.ts";

type VerifyAddressesOptions = {
  readonly out: string | undefined;
  readonly force: boolean;
  readonly evidence: boolean;
  readonly failOn: readonly Status[] | undefined;
};

export const verifyAddressesByService = async (
  service: Service,
  emails: readonly string[],
  format: ResultFormat,
  { out: file, force, evidence, failOn }: VerifyAddressesOptions,
): Promise<number> => {
  const out = await openOutput(file, force);
  const { signal, end } = watchInterrupt();
  const summary = createResultSummary();
  async function* verifyEach(): AsyncGenerator<ListResult> {
    for (const email of emails) {
      const result = await verifyAddress(service, email, evidence, signal);
      // The client does not type the evidence: another version of the service may have other fields.
      yield { result: result as ApiResult, cells: [] };
    }
  }
  try {
    for await (const piece of format(countResults(verifyEach(), summary)))
      await writeOutput(out, piece);
  } finally {
    end();
    if (out !== process.stdout) await finished(out.end());
  }
  return summary.getExitCode(failOn);
};

/** A slow verification becomes a job of one address, which is already paid for. */
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
  writeNote(`${id}: ${replaceControls(email)} takes longer. Waiting for its result.\n`);
  const how = formatFollowCommand(url, id, { out: undefined, kind: "json", force: false });
  const { status, error } = await waitForJob(client, id, signal).catch((cause: unknown) => {
    const message = explainContinuation(cause, id, how, signal);
    throw cause instanceof MailproofError
      ? new MailproofError(message, {
          code: cause.code,
          money: "kept",
          status: cause.status,
          cause,
        })
      : new Error(message, { cause });
  });
  for await (const row of client.results({ id }, { signal })) return row;
  throw new Error(`${id}: ${status}. ${error ?? ""}`);
};
