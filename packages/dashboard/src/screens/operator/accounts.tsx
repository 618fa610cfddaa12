import { useRef } from "preact/hooks";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { runCommand } from "../../session.ts";
import { type AccountSummary, AccountTable } from "./account-table.tsx";
import { CommandForm } from "./command.tsx";
import "./operator.css";

const NewAccount = ({ onDone }: { readonly onDone: () => void }) => {
  const name = useRef<HTMLInputElement>(null);
  const plan = useRef<HTMLSelectElement>(null);
  const credits = useRef<HTMLInputElement>(null);
  return (
    <section class="panel" aria-labelledby="new-account">
      <h2 id="new-account">New account</h2>
      <CommandForm
        command="accounts.create"
        options={() => ({
          name: name.current?.value ?? "",
          plan: plan.current?.value ?? "free",
          credits: credits.current?.value || "0",
        })}
        label="Create the account"
        busy="Creating the account"
        onDone={onDone}
      >
        <label for="account-name">Name</label>
        <input id="account-name" ref={name} />
        <label for="account-plan">Plan</label>
        <select id="account-plan" ref={plan}>
          <option>free</option>
          <option>pro</option>
          <option>scale</option>
        </select>
        <label for="account-credits">Credits</label>
        <input id="account-credits" ref={credits} inputMode="decimal" placeholder="0" />
        <p class="soft">Both keys are shown once, below this button.</p>
      </CommandForm>
    </section>
  );
};

export const Accounts = () => {
  const load = useLoad((signal) =>
    runCommand<readonly AccountSummary[]>("accounts.list", {}, signal),
  );
  return (
    <Screen title="Accounts">
      <Loaded load={load} what="the accounts" as="rows">
        {(accounts) => <AccountTable accounts={accounts} />}
      </Loaded>
      <div class="panels">
        <NewAccount onDone={load.reload} />
      </div>
    </Screen>
  );
};
