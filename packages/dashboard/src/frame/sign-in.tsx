import { type GetSignInData, MailproofError } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toDocsHref } from "../base.ts";
import { handleSubmit, useAction } from "../parts/action.ts";
import { ErrorPanel, toSentence } from "../parts/error-panel.tsx";
import { Loaded } from "../parts/load.tsx";
import { isPasskeyAvailable, signInByPasskey } from "../people/passkey.ts";
import { isPlaceForPeople, PersonPage, PlaceNotice, useWays } from "../people/person-page.tsx";
import { toHost, visitProvider } from "../people/provider.ts";
import { path } from "../router.ts";
import {
  endSession,
  openingError,
  openSession,
  person,
  signIn,
  signInAsPerson,
  signOutReason,
} from "../session.ts";

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
  // Folded, it is the third way.
  useLayoutEffect(() => {
    if (!isPlaceForPeople()) field.current?.focus();
  }, []);

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

const PersonButtons = ({ ways }: { readonly ways: GetSignInData }) => {
  const passkey = useAction(async () => {
    await signInByPasskey();
    await signInAsPerson();
  });
  // A deep link opens after the provider has sent the browser back.
  const provider = useAction(() => visitProvider({ next: path.peek() }));
  const error = passkey.error ?? provider.error;
  return (
    <div class="ways">
      {error !== undefined && <ErrorPanel error={error} />}
      {ways.passkeys && isPasskeyAvailable() && (
        <button
          type="button"
          class="primary"
          aria-disabled={passkey.isRunning}
          onClick={() => void passkey.run()}
        >
          Sign in with a passkey
        </button>
      )}
      {ways.oidc && (
        <button
          type="button"
          class={ways.passkeys ? "" : "primary"}
          aria-disabled={provider.isRunning}
          onClick={() => void provider.run()}
        >
          Sign in with {toHost(ways.oidc.issuer)}
        </button>
      )}
    </div>
  );
};

const People = () => {
  const ways = useWays();
  return (
    <Loaded load={ways} what="the ways to sign in">
      {(data) => (
        <>
          <PersonButtons ways={data} />
          <p class="soft">
            New here? Open the link of your invitation. The first start of a server prints the link
            of its owner.
          </p>
        </>
      )}
    </Loaded>
  );
};

export const SignIn = () => {
  const isForPeople = isPlaceForPeople();
  return (
    <PersonPage title="Sign in">
      {signOutReason.value !== null && (
        <p class="notice" role="status">
          {signOutReason}
        </p>
      )}
      {openingError.value !== null && (
        <ErrorPanel error={openingError.value} onRetry={() => void openSession()} />
      )}
      <PlaceNotice />
      {isForPeople && <People />}
      <details open={!isForPeople}>
        <summary>Sign in with an API key</summary>
        <SignInForm />
        <p class="soft">
          No key yet? <code>npm start</code> prints a free test key. On another server, its operator
          creates your first key. <a href={toDocsHref("/quick-start")}>Quick start</a>
        </p>
      </details>
    </PersonPage>
  );
};

/** The last membership is gone, and the session stays. */
export const NoAccount = () => {
  const leave = useAction(() => endSession());
  return (
    <PersonPage title="No account">
      <p>{person.value?.name}, you are a member of no account here. Ask for an invitation.</p>
      {leave.error !== undefined && <ErrorPanel error={leave.error} />}
      <button type="button" aria-disabled={leave.isRunning} onClick={() => void leave.run()}>
        Sign out
      </button>
    </PersonPage>
  );
};
