import {
  type Client,
  createClient,
  type GetAccountData,
  type GetPersonData,
  MailproofError,
} from "@mailproof/client";
import { createRandomId } from "@mailproof/client/random-id";
import type { Scope } from "@mailproof/core/accounts/scopes";
import { computed, signal } from "@preact/signals";
import { API_URL } from "./base.ts";
import { isOperatorKey, type Options, sendCommand } from "./operator.ts";

// Somebody is signed in by a key or as a person. The key is in memory and in sessionStorage, which ends with the tab. It is never
// in localStorage, a URL or a title. A person's session is a cookie, which no script can read; each tab chooses an account.

const STORED = {
  key: "mailproof.key",
  session: "mailproof.session",
  chosen: "mailproof.account",
} as const;

const readStored = (name: keyof typeof STORED, from = () => sessionStorage): string | null => {
  try {
    return from().getItem(STORED[name]);
  } catch {
    return null;
  }
};

const store = (
  name: keyof typeof STORED,
  value: string | null,
  into = () => sessionStorage,
): void => {
  try {
    if (value === null) into().removeItem(STORED[name]);
    else into().setItem(STORED[name], value);
  } catch {
    // The browser blocks storage: the key lasts as long as the page.
  }
};

const key = signal(readStored("key"));

/** Each sign-in creates a new id, so that intents an earlier session left in the tab's history are not reused. */
export const sessionId = signal(readStored("session") ?? "");

/** The signed-in person; null for a key. */
export const person = signal<GetPersonData | null>(null);

/** The account in which the person acts, as the API's header names it: acc_1, or acc_1~test for its simulated results. */
const chosen = signal<string | null>(null);

const TEST = "~test";

export const isSignedIn = computed(() => key.value !== null || person.value !== null);

/** True until the API has said whether the browser has a person's session. */
export const isOpening = signal(key.peek() === null);

export const openingError = signal<unknown>(null);

/** Null until it has loaded, or when the key may not read it. */
export const account = signal<GetAccountData | null>(null);

export const accountError = signal<unknown>(null);

export const signOutReason = signal<string | null>(null);

/** What the frame tells a person about the account, until the next switch. */
export const frameNotice = signal<string | null>(null);

export const isTestKey = computed(
  () => (key.value?.startsWith("mp_test_") ?? false) || (chosen.value?.endsWith(TEST) ?? false),
);

export const isOperator = computed(() => key.value !== null && isOperatorKey(key.value));

export type Membership = GetPersonData["accounts"][number];

/** The person's role in the chosen account. Undefined for a key. */
export const membership = computed((): Membership | undefined =>
  person.value?.accounts.find(({ account_id: id }) => id === chosen.value?.replace(TEST, "")),
);

/** A scope, being a person, managing people, or an owner's rights. */
export type Right = Scope | "person" | "people" | "owner";

/**
 * False when the role or a limit excludes what needs the right. A key may do everything but what is for people: the API's
 * refusal names the scope that the key lacks.
 */
export const may = (right: Right): boolean => {
  const role = membership.value?.role;
  if (right === "person") return person.value !== null;
  if (right === "people") return role === "owner" || role === "admin";
  if (role === undefined || role === "owner") return true;
  if (right === "owner") return false;
  const scopes = account.value?.key.scopes;
  return scopes ? scopes.includes(right) : role !== "viewer" || right.endsWith(":read");
};

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

/** What main.tsx sets: the code loads late, and imports this file. */
export const late = {
  findLoss: async (_account: string): Promise<void> => {},
  confirmPerson: async (): Promise<boolean> => false,
};

/** Sends the browser's cookie in place of a key, to the API alone: an upload's URL has its own right. */
const createPersonFetch =
  (selected: string | null): typeof fetch =>
  async (input, init) => {
    const headers = new Headers(init?.headers);
    if (!headers.has("authorization")) return fetch(input, init);
    headers.delete("authorization");
    if (selected !== null) headers.set("mailproof-account", selected);
    const response = await fetch(input, { ...init, headers });
    if (response.status === 401 && selected !== null && chosen.peek() === selected)
      void late.findLoss(selected.replace(TEST, ""));
    return response;
  };

/** The client requires a key, and createPersonFetch removes it. */
const createPersonClient = (selected: string | null): Client =>
  createQuickClient("none", createPersonFetch(selected));

/** The client of a person without an account, and of nobody. */
export const getOwnClient = (): Client => createPersonClient(null);

export const createAccountClient = (id: string): Client => createPersonClient(id);

const signedInClient = computed(() => {
  if (key.value !== null) return createQuickClient(key.value, createWatchedFetch(key.value));
  return chosen.value === null ? null : createPersonClient(chosen.value);
});

export const getClient = (): Client => {
  if (!signedInClient.value) throw new Error("No key is signed in.");
  return signedInClient.value;
};

export const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof MailproofError && error.status === status;

export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);

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

const beginSession = (): void => {
  sessionId.value = createRandomId();
  store("session", sessionId.value);
  signOutReason.value = null;
};

/** Asks the API about the key, and keeps the key only if the API accepts it. */
export const signIn = async (candidate: string): Promise<void> => {
  const data = await readAccount(candidate);
  beginSession();
  store("key", candidate);
  account.value = data;
  key.value = candidate;
};

/** Acts in the account from now on: every screen begins anew. */
export const chooseAccount = (id: string | null, isTest = false): void => {
  const selected = id !== null && isTest ? id + TEST : id;
  beginSession();
  store("chosen", selected);
  if (selected !== null) store("chosen", selected, () => localStorage);
  account.value = null;
  accountError.value = null;
  frameNotice.value = null;
  chosen.value = selected;
};

/** Shows the person, in the account of the tab, else the last one, unless another is wanted. */
export const enter = (data: GetPersonData, wanted?: string): void => {
  const ids = data.accounts.map(({ account_id: id }) => id);
  const isMember = (selected: string | null | undefined) =>
    typeof selected === "string" && ids.includes(selected.replace(TEST, ""));
  const before = readStored("chosen");
  const last = readStored("chosen", () => localStorage);
  const selected = [wanted, before, last, ids[0]].find(isMember) ?? null;
  const isReload = selected === before && sessionId.peek() !== "";
  key.value = null;
  store("key", null);
  if (isReload) chosen.value = selected;
  else chooseAccount(selected?.replace(TEST, "") ?? null, selected?.endsWith(TEST));
  person.value = data;
};

/** Reads the person of the browser's session after a sign-in. */
export const signInAsPerson = async (wanted?: string): Promise<void> => {
  const data = await getOwnClient().getPerson();
  // Intents of another person must not be repeated.
  if (person.peek()?.person_id !== data.person_id) sessionId.value = "";
  enter(data, wanted);
};

/** Reads the person again: after a change of accounts, passkeys or identities. */
export const refreshPerson = async (): Promise<void> => enter(await getOwnClient().getPerson());

/** Asks whether the browser has a person's session. A key that the tab has stored comes first. */
export const openSession = async (): Promise<void> => {
  if (key.peek() !== null) return;
  isOpening.value = true;
  openingError.value = null;
  try {
    enter(await getOwnClient().getPerson());
  } catch (error) {
    if (!hasStatus(error, 401)) openingError.value = error;
  } finally {
    isOpening.value = false;
  }
};

/** Forgets what the tab knows. The cookie of a person stays: `endSession` ends it. */
export const signOut = (reason: string | null = null): void => {
  store("key", null);
  store("session", null);
  store("chosen", null);
  signOutReason.value = reason;
  account.value = null;
  accountError.value = null;
  frameNotice.value = null;
  key.value = null;
  person.value = null;
  chosen.value = null;
};

/** Signs out: a person's session ends in this browser, or in all. */
export const endSession = async (everywhere = false): Promise<void> => {
  if (person.peek() !== null)
    await getOwnClient()
      .endSession({ everywhere })
      .catch((error: unknown) => {
        if (!hasStatus(error, 401)) throw error;
      });
  signOut();
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
