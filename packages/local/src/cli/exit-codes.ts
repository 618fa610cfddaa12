import { getStatus } from "@mailproof/api/http/http-failure";
import { MailproofError } from "@mailproof/client/errors";
import { Failure } from "@mailproof/core/lib/failure";
import { UsageError } from "./define-command.ts";

export const EXIT_CODES = {
  done: { code: 0, text: "done" },
  noResult: { code: 1, text: "done, with a result that is negative or missing; or a bug" },
  usage: { code: 2, text: "the command line, a file or a setting is wrong" },
  refused: { code: 3, text: "the service refused the request" },
  denied: { code: 4, text: "the service refused the API key" },
  noCredits: { code: 5, text: "the account has too few credits" },
  unavailable: { code: 6, text: "the service is not reachable, busy or failed: try again" },
  interrupted: { code: 130, text: "interrupted by Ctrl-C" },
  closedPipe: { code: 141, text: "the reader closed the pipe, as `head` does" },
} as const;

/** A later try may succeed after a status of 500 or more. */
const TRY_AGAIN_FROM = 500;
const CODES_BY_STATUS: Readonly<Record<number, keyof typeof EXIT_CODES>> = {
  401: "denied",
  402: "noCredits",
  403: "denied",
  429: "unavailable",
  501: "refused",
};

export const getExitCode = (error: unknown): number => EXIT_CODES[classifyError(error)].code;

const classifyError = (error: unknown): keyof typeof EXIT_CODES => {
  if (error instanceof UsageError) return "usage";
  // An operator's command works on this machine, so no service has refused it.
  if (error instanceof Failure) return getStatus(error) < TRY_AGAIN_FROM ? "usage" : "noResult";
  if (!(error instanceof MailproofError)) return "noResult";
  if (error.code === "ABORTED") return "interrupted";
  if (error.status === undefined) return "unavailable";
  return (
    CODES_BY_STATUS[error.status] ?? (error.status < TRY_AGAIN_FROM ? "refused" : "unavailable")
  );
};
