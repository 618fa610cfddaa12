import { MailproofError } from "@mailproof/client";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser";
import { API_URL } from "../base.ts";

// Passkeys in the browser. The library loads with the first of them.

/** Browsers refuse passkeys without https, except at localhost, and at an IP address. */
export const isPasskeyAvailable = (): boolean =>
  isSecureContext && "PublicKeyCredential" in window && !/^[\d.]+$|^\[/.test(location.hostname);

/** Begins a session by a passkey that the person chooses. Throws ABORTED when the person chooses none. */
export const signInByPasskey = async (): Promise<void> => {
  const path = "/v1/sign-in/passkey";
  const { options } = await start<PublicKeyCredentialRequestOptionsJSON>(path);
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const response = await startAuthentication({ optionsJSON: options }).catch(explain);
  await post(path, { action: "finish", response });
};

/** Adds a passkey for the signed-in person. Throws ABORTED when the person makes none. */
export const createPasskey = async (name: string): Promise<void> => {
  const path = "/v1/passkeys";
  const { options } = await start<PublicKeyCredentialCreationOptionsJSON>(path);
  const { startRegistration } = await import("@simplewebauthn/browser");
  const response = await startRegistration({ optionsJSON: options }).catch(explain);
  await post(path, { action: "finish", name, response });
};

const start = <Options>(path: string): Promise<{ readonly options: Options }> =>
  post(path, { action: "start" });

/** The names of the browser's errors are the same in all browsers. */
const explain = (cause: unknown): never => {
  const name = cause instanceof Error ? cause.name : "";
  if (name === "NotAllowedError" || name === "AbortError")
    throw new MailproofError("No passkey was used.", {
      code: "ABORTED",
      money: "nothing_charged",
      cause,
    });
  const message = MESSAGES[name] ?? "This browser could not use a passkey. Try another way.";
  throw new Error(message, { cause });
};

const MESSAGES: Readonly<Record<string, string>> = {
  InvalidStateError: "This device already has a passkey for you.",
  NotSupportedError: "This device cannot make a passkey that this service accepts.",
  ConstraintError: "This device cannot verify that it is you. Set a PIN or a fingerprint first.",
  SecurityError: "Browsers allow passkeys only at the address of this service.",
};

type Body<T> = {
  readonly data: T;
  readonly error?: Pick<MailproofError, "code" | "money" | "message" | "details">;
};

/** The browser adds the session's cookie, so the request has no key. */
const post = async <T>(path: string, content: object): Promise<T> => {
  const response = await fetch(API_URL + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(content),
  }).catch((cause: unknown) => {
    const message = "The server cannot be reached.";
    throw new MailproofError(message, { code: "NETWORK", money: "nothing_charged", cause });
  });
  const { data, error } = (await response.json().catch(() => ({}))) as Body<T>;
  if (response.ok) return data;
  const { status } = response;
  const {
    code = "UNREADABLE",
    money = "nothing_charged",
    message = `The server responded with status ${status}.`,
    details,
  } = error ?? {};
  const requestId = response.headers.get("x-request-id") ?? undefined;
  throw new MailproofError(message, { code, money, details, status, requestId });
};
