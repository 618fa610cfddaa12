import { MailproofError } from "@mailproof/client";
import { useRef, useState } from "preact/hooks";
import { late, person } from "../session.ts";

export type Action<A extends readonly unknown[]> = {
  readonly isRunning: boolean;
  readonly error: unknown;
  /** Does nothing while a request runs, so a double click sends one request. */
  readonly run: (...args: A) => Promise<void>;
};

const asksForSignIn = (cause: unknown): boolean =>
  cause instanceof MailproofError &&
  person.peek() !== null &&
  (cause.details as { readonly sign_in_again?: boolean } | undefined)?.sign_in_again === true;

/** Where the API requires a recent sign-in, the person signs in again, and the action is repeated. */
const actAfterSignIn = async (act: () => Promise<unknown>): Promise<void> => {
  try {
    await act();
  } catch (cause) {
    if (!asksForSignIn(cause)) throw cause;
    if (!(await late.confirmPerson())) throw cause;
    await act();
  }
};

/** The person closed the browser's own dialog of passkeys, and knows it. */
const isCancelled = (cause: unknown): boolean =>
  cause instanceof MailproofError && cause.code === "ABORTED";

export const useAction = <A extends readonly unknown[]>(
  act: (...args: A) => Promise<unknown>,
): Action<A> => {
  const isBusy = useRef(false);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (...args: A): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setRunning(true);
    setError(undefined);
    try {
      await actAfterSignIn(() => act(...args));
    } catch (cause) {
      if (!isCancelled(cause)) setError(cause);
    } finally {
      isBusy.current = false;
      setRunning(false);
    }
  };
  return { isRunning, error, run };
};

/** A form's handler: the page stays, and `act` runs. */
export const handleSubmit =
  (act: () => unknown) =>
  (event: Event): void => {
    event.preventDefault();
    void act();
  };

/** FormData may hold files, though no field of our forms has one. */
export const readText = (fields: FormData, name: string): string => {
  const value = fields.get(name);
  return typeof value === "string" ? value.trim() : "";
};
