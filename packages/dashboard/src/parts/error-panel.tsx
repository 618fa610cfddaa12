import { MailproofError } from "@mailproof/client";
import { isForbidden } from "../session.ts";
import { CopyButton } from "./copy-button.tsx";

/** Tells whether the same request may succeed later: when the service is back, or the account has more credits. */
export const mayPass = (error: unknown): boolean =>
  !(error instanceof MailproofError) ||
  error.retryable ||
  error.code === "INSUFFICIENT_CREDITS" ||
  (error.status ?? 500) >= 500;

/** The API's advice to programs. The dashboard repeats a request in this way without advice. */
const OF_PROGRAMS = " Retry with the same Idempotency-Key";

/** Returns the API's own sentence, which states the fault and the fate of the money. */
export const toSentence = (error: unknown): string => {
  const [what = "", rest] = (error instanceof Error ? error.message : String(error)).split(
    OF_PROGRAMS,
  );
  return rest !== undefined && mayPass(error) ? `${what} A retry is not charged twice.` : what;
};

type Props = {
  readonly error: unknown;
  /** Absent when a retry would fail in the same way. */
  readonly onRetry?: (() => void) | undefined;
};

export const ErrorPanel = ({ error, onRetry }: Props) => {
  if (isForbidden(error))
    return (
      <p class="notice" role="alert">
        {toSentence(error)}
      </p>
    );
  const requestId = error instanceof MailproofError ? error.requestId : undefined;
  return (
    <div class="error" role="alert">
      <p>{toSentence(error)}</p>
      {requestId !== undefined && (
        <p class="request-id">
          Request id <code>{requestId}</code> <CopyButton text={requestId} />
        </p>
      )}
      {onRetry && mayPass(error) && (
        <button type="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
};
