import { MailproofError } from "@mailproof/client";
import { isForbidden } from "../session.ts";
import { CopyButton } from "./copy-button.tsx";

/** The API's own sentence says what happened, and what happened to the money. */
export const toSentence = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

type Props = {
  readonly error: unknown;
  /** Absent where a retry would fail the same way. */
  readonly onRetry?: (() => void) | undefined;
};

/** Every error: the sentence, the request's id, and Retry. */
export const ErrorPanel = ({ error, onRetry }: Props) => {
  const requestId = error instanceof MailproofError ? error.requestId : undefined;
  return (
    <div class="error" role="alert">
      <p>{toSentence(error)}</p>
      {requestId !== undefined && (
        <p class="request-id">
          Request id <code>{requestId}</code> <CopyButton text={requestId} />
        </p>
      )}
      {onRetry && !isForbidden(error) && (
        <button type="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
};
