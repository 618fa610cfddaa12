import { useRef } from "preact/hooks";
import { toDocsHref } from "../../base.ts";
import { navigate } from "../../router.ts";

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
 * A new account gets instructions above the field. The account loads after the field is shown, so the field element must stay the same, or
 * the text typed meanwhile is lost.
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
