import { createRandomId } from "@mailproof/client/random-id";
import { sessionId } from "../../session.ts";

/**
 * The intention to verify one address, with the Idempotency-Key of all its requests: a double click, a retry, a reload and Back repeat it,
 * and are charged once. The state of the history entry stores it, so no URL contains it.
 */
export type Intent = {
  readonly email: string;
  readonly idempotencyKey: string;
  /** Another key that signs in later must not pay for it. */
  readonly session: string;
  readonly at: number;
};

/** The API stores a response for a day. After that a repeat would be charged again. */
const REPEATABLE_MS = 12 * 60 * 60 * 1000;

export const createIntent = (email: string): Intent => ({
  email,
  idempotencyKey: createRandomId(),
  session: sessionId.value,
  at: Date.now(),
});

export const storeIntent = (intent: Intent): void => history.replaceState({ intent }, "");

type HistoryState = { readonly intent?: Intent; readonly email?: string } | null;

/** Reads an intent to repeat, or an address from another screen, from this history entry; otherwise null. */
export const readIntent = (): Intent | null => {
  const { intent, email } = (history.state as HistoryState) ?? {};
  if (email !== undefined) return createIntent(email);
  if (!intent || intent.session !== sessionId.value) return null;
  return Date.now() - intent.at < REPEATABLE_MS ? intent : null;
};
