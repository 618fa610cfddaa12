import { type Client, createClient, type GetAccountData, MailproofError } from "@mailproof/client";
import { createRandomId } from "@mailproof/client/random-id";
import { computed, signal } from "@preact/signals";
import { API_URL } from "./base.ts";
import { isOperatorKey, type Options, sendCommand } from "./operator.ts";

// The key is in memory and in sessionStorage, which ends with the tab. It is never in localStorage, a URL or a title.

const STORED = { key: "mailproof.key", session: "mailproof.session" } as const;

const readStored = (name: keyof typeof STORED): string | null => {
  try {
    return sessionStorage.getItem(STORED[name]);
  } catch {
    return null;
  }
};

const store = (name: keyof typeof STORED, value: string | null): void => {
  try {
    if (value === null) sessionStorage.removeItem(STORED[name]);
    else sessionStorage.setItem(STORED[name], value);
  } catch {
    // The browser blocks storage: the key lasts as long as the page.
  }
};

const key = signal(readStored("key"));

/** Each sign-in creates a new id, so that intents an earlier session left in the tab's history are not reused. */
export const sessionId = signal(readStored("session") ?? "");

export const isSignedIn = computed(() => key.value !== null);

/** Null until it has loaded, or when the key may not read it. */
export const account = signal<GetAccountData | null>(null);

export const accountError = signal<unknown>(null);

export const signOutReason = signal<string | null>(null);

export const isTestKey = computed(() => key.value?.startsWith("mp_test_") ?? false);

export const isOperator = computed(() => key.value !== null && isOperatorKey(key.value));

/** Creates a client without retries: a person sees the error, and decides. */
const createQuickClient = (ownKey: string, fetch: typeof globalThis.fetch): Client =>
  createClient({ baseUrl: API_URL, key: ownKey, retries: 0, fetch });

/** A revoked or expired key ends the session, on any screen. */
const createWatchedFetch =
  (ownKey: string): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    // A late response to an earlier key proves nothing about the current one.
    if (response.status === 401 && key.peek() === ownKey)
      signOut("The API no longer accepts this key. It was revoked, or it has expired.");
    return response;
  };

const signedInClient = computed(() =>
  key.value === null ? null : createQuickClient(key.value, createWatchedFetch(key.value)),
);

export const getClient = (): Client => {
  if (!signedInClient.value) throw new Error("No key is signed in.");
  return signedInClient.value;
};

export const isForbidden = (error: unknown): boolean =>
  error instanceof MailproofError && error.status === 403;

export const runCommand = <T>(
  command: string,
  options: Options = {},
  aborted: AbortSignal | null = null,
): Promise<T> => sendCommand<T>(key.peek() ?? "", command, options, aborted);

/** Null when the key is valid, but may not read the account. */
const readAccount = async (candidate: string): Promise<GetAccountData | null> => {
  if (isOperatorKey(candidate)) {
    await sendCommand(candidate, "gauges").catch(explainRefusal);
    return null;
  }
  return createQuickClient(candidate, fetch)
    .getAccount()
    .catch((error: unknown) => {
      // The key is valid, but lacks the scope account:read.
      if (isForbidden(error)) return null;
      throw error;
    });
};

const explainRefusal = (error: unknown): never => {
  if (!(error instanceof MailproofError) || error.status !== 404) throw error;
  throw new TypeError(
    "This server does not accept this operator key. Its setting OPERATOR_KEY says which one it accepts.",
  );
};

/** Asks the API about the key, and keeps the key only if the API accepts it. */
export const signIn = async (candidate: string): Promise<void> => {
  const data = await readAccount(candidate);
  sessionId.value = createRandomId();
  store("session", sessionId.value);
  store("key", candidate);
  account.value = data;
  signOutReason.value = null;
  key.value = candidate;
};

export const signOut = (reason: string | null = null): void => {
  store("key", null);
  store("session", null);
  signOutReason.value = reason;
  account.value = null;
  accountError.value = null;
  key.value = null;
};

/** Reads the balance again: after a charge, and when the tab opens. An operator's key has no account. */
export const refreshAccount = async (): Promise<void> => {
  const client = signedInClient.peek();
  if (!client || isOperator.peek()) return;
  // The response to an earlier key must not be shown with another key.
  const isCurrent = () => signedInClient.peek() === client;
  try {
    const data = await client.getAccount();
    if (!isCurrent()) return;
    account.value = data;
    accountError.value = null;
  } catch (error) {
    if (isCurrent()) accountError.value = error;
  }
};
