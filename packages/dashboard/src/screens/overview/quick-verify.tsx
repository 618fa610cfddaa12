import { useRef } from "preact/hooks";
import { toDocsHref } from "../../base.ts";
import { navigate } from "../../router.ts";

/** Leads to the screen that verifies, which takes the address from the state of the history. */
const VerifyForm = () => {
  const field = useRef<HTMLInputElement>(null);
  return (
    <form
      class="one-line"
      onSubmit={(event) => {
        event.preventDefault();
        const email = field.current?.value.trim() ?? "";
        if (email === "") field.current?.focus();
        else navigate("verify", { state: { email } });
      }}
    >
      <label for="quick-email">Verify an address</label>
      <div class="with-button">
        <input
          ref={field}
          id="quick-email"
          type="text"
          inputMode="email"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="ada@example.com"
        />
        <button type="submit" class="primary">
          Verify
        </button>
      </div>
    </form>
  );
};

type Props = { readonly isNew: boolean };

/**
 * A new account reads beside the field what to do. Whether it is new is known later than the field is there, so the field
 * stays the same: what was typed meanwhile would be lost with it.
 */
export const QuickVerify = ({ isNew }: Props) => (
  <section
    class={isNew ? "panel first-steps" : undefined}
    aria-label={isNew ? "Your first verdict" : "Verify one address"}
  >
    {isNew && (
      <>
        <h2>Your first verdict</h2>
        <p>Enter any address and press Verify. You see whether to send to it, and why.</p>
      </>
    )}
    <VerifyForm key="form" />
    {isNew && (
      <p class="soft">
        From a program it is one request: <a href={toDocsHref("/quick-start")}>Quick start</a>.
      </p>
    )}
  </section>
);
