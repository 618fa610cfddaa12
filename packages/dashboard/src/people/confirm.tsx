import { render } from "preact";
import { useAction } from "../parts/action.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { path } from "../router.ts";
import { person, signInAsPerson } from "../session.ts";
import { isPasskeyAvailable, signInByPasskey } from "./passkey.ts";
import { signInByWindow, toHost } from "./provider.ts";

type Props = { readonly onEnd: (isConfirmed: boolean) => void };

const Ways = ({ onEnd }: Props) => {
  const before = person.peek();
  const confirm = useAction(async (signIn: () => Promise<void>) => {
    await signIn();
    await signInAsPerson();
    // Another person has signed in: the page is that person's now, and the action is not.
    onEnd(person.peek()?.person_id === before?.person_id);
  });
  const issuer = before?.identities[0]?.issuer;
  const hasPasskey = before !== null && before.passkeys.length > 0 && isPasskeyAvailable();
  const run = (signIn: () => Promise<void>) => () => void confirm.run(signIn);
  return (
    <>
      {hasPasskey || issuer !== undefined ? (
        <p>You signed in more than five minutes ago, and this action needs a recent sign-in.</p>
      ) : (
        <p>
          This action needs a sign-in within the last five minutes, and you have no passkey to sign
          in with. Ask the operator of this server for a new link:{" "}
          <code>mailproof admin people reset --person {before?.person_id}</code>
        </p>
      )}
      {confirm.error !== undefined && <ErrorPanel error={confirm.error} />}
      <div class="actions">
        {hasPasskey && (
          <button
            type="button"
            class="primary"
            aria-disabled={confirm.isRunning}
            onClick={run(signInByPasskey)}
          >
            Use a passkey
          </button>
        )}
        {issuer !== undefined && (
          <button type="button" onClick={run(() => signInByWindow(path.peek()))}>
            Sign in with {toHost(issuer)}
          </button>
        )}
        <button type="button" onClick={() => onEnd(false)}>
          Cancel
        </button>
      </div>
    </>
  );
};

/** Asks the person to sign in again. False when the person does not, or is another one. */
export const confirmPerson = (): Promise<boolean> =>
  new Promise((resolve) => {
    const place = document.body.appendChild(document.createElement("div"));
    const end = (isConfirmed: boolean) => {
      render(null, place);
      place.remove();
      resolve(isConfirmed);
    };
    render(
      <Dialog title="Confirm it is you" isOpen onClose={() => end(false)}>
        <Ways onEnd={end} />
      </Dialog>,
      place,
    );
  });
