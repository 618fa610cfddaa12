import { useRef } from "preact/hooks";
import { toDocsHref } from "../../base.ts";
import { navigate } from "../../router.ts";

/** Leads to the screen that verifies, which takes the address from the state of the history. */
export const QuickVerify = () => {
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

export const FirstSteps = () => (
  <section class="panel first-steps" aria-labelledby="first-steps">
    <h2 id="first-steps">Your first verdict</h2>
    <p>Enter any address and press Verify. You see whether to send to it, and why.</p>
    <QuickVerify />
    <p class="soft">
      From a program it is one request: <a href={toDocsHref("/quick-start")}>Quick start</a>.
    </p>
  </section>
);
