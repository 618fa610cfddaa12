import { toDocsHref } from "../../base.ts";
import { OneLineForm } from "../../parts/one-line-form.tsx";
import { navigate } from "../../router.ts";

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
    <OneLineForm
      key="form"
      id="quick-email"
      label="Verify an address"
      inputMode="email"
      placeholder="ada@example.com"
      action="Verify"
      onText={(email) => navigate("verify", { state: { email } })}
    />
    {isNew && (
      <p class="soft">
        From a program it is one request: <a href={toDocsHref("/quick-start")}>Quick start</a>.
      </p>
    )}
  </section>
);
