import { MailproofError } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toDocsHref } from "../base.ts";
import { handleSubmit } from "../parts/action.ts";
import { ErrorPanel, toSentence } from "../parts/error-panel.tsx";
import { Logo } from "../parts/icon.tsx";
import { signIn, signOutReason } from "../session.ts";

/** Tells whether the key itself is wrong, or no request was made with it; the key's field shows such an error. Any other error may pass. */
const isAboutKey = (error: unknown): boolean =>
  !(error instanceof MailproofError) || error.status === 401;

/** Replaces the API's sentence, which is for programs and names the key's header. */
const toKeySentence = (error: unknown): string =>
  error instanceof MailproofError
    ? "The API does not accept this key. Check that you copied the whole key, and that it has not been revoked or expired."
    : toSentence(error);

type FieldProps = {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly fault: unknown;
  readonly onInput: () => void;
};

const KeyField = ({ field, fault, onInput }: FieldProps) => {
  const isShown = useSignal(false);
  const isInvalid = fault !== null;
  return (
    <>
      <label for="key">API key</label>
      <div class="with-button">
        <input
          {...(isShown.value ? { type: "text" } : { type: "password" })}
          ref={field}
          id="key"
          name="key"
          autocomplete="current-password"
          autocapitalize="off"
          spellcheck={false}
          placeholder="mp_live_… or mp_test_…"
          aria-invalid={isInvalid}
          aria-describedby={isInvalid ? "key-error key-hint" : "key-hint"}
          onInput={onInput}
        />
        <button
          type="button"
          class="quiet"
          aria-pressed={isShown.value}
          onClick={() => (isShown.value = !isShown.value)}
        >
          Show
        </button>
      </div>
      {isInvalid && (
        <p id="key-error" class="field-error" role="alert">
          {toKeySentence(fault)}
        </p>
      )}
    </>
  );
};

const SignInForm = () => {
  const field = useRef<HTMLInputElement>(null);
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  useLayoutEffect(() => field.current?.focus(), []);

  const submit = async () => {
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = null;
    try {
      const key = field.current?.value.trim() ?? "";
      if (key === "") throw new TypeError("Enter an API key.");
      await signIn(key);
    } catch (thrown) {
      error.value = thrown;
      field.current?.focus();
    } finally {
      isBusy.value = false;
    }
  };

  const fault = error.value !== null && isAboutKey(error.value) ? error.value : null;
  return (
    <form method="post" noValidate onSubmit={handleSubmit(submit)}>
      <KeyField field={field} fault={fault} onInput={() => (error.value = null)} />
      {error.value !== null && fault === null && (
        <ErrorPanel error={error.value} onRetry={() => void submit()} />
      )}
      <p id="key-hint" class="soft">
        The key stays in this tab: signing out or closing the tab removes it.
      </p>
      <button type="submit" class="primary" aria-disabled={isBusy.value}>
        {isBusy.value ? "Checking the key …" : "Sign in"}
      </button>
    </form>
  );
};

export const SignIn = () => {
  useLayoutEffect(() => {
    document.title = "Sign in · Mailproof";
  }, []);
  return (
    <main class="sign-in" id="content">
      <p class="brand">
        <Logo />
        Mailproof
      </p>
      <h1>Sign in</h1>
      {signOutReason.value !== null && (
        <p class="notice" role="status">
          {signOutReason}
        </p>
      )}
      <SignInForm />
      <p class="soft">
        No key yet? <code>npm start</code> prints a free test key. On another server, its operator
        creates your first key. <a href={toDocsHref("/quick-start")}>Quick start</a>
      </p>
    </main>
  );
};
