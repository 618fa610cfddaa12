import { createRandomId } from "@mailproof/client/random-id";
import { useRef } from "preact/hooks";
import { formatNumber, formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import type { Params } from "../../router.ts";
import { runCommand } from "../../session.ts";
import { KeyTable } from "../api-keys/key-table.tsx";
import type { ListedKey } from "../api-keys/listed-key.ts";
import { CommandForm } from "./command.tsx";
import "./operator.css";

type Details = {
  readonly account_id: string;
  readonly name: string;
  readonly plan: string;
  readonly status: string;
  readonly created_at: string;
  readonly credits: { readonly available: number; readonly held: number; readonly spent: number };
};

const toPairs = ({ account_id, plan, status, created_at, credits }: Details) =>
  Object.entries({
    Held: formatNumber(credits.held),
    Spent: formatNumber(credits.spent),
    Plan: plan,
    Status: status,
    Created: formatTime(created_at),
    Id: <code>{account_id}</code>,
  });

type Props = { readonly account: string; readonly onDone: () => void };

const CreditsPanel = ({ account, onDone }: Props) => {
  const amount = useRef<HTMLInputElement>(null);
  const intent = useRef({ amount: "", key: "" });
  /** A grant that is repeated after a lost response has the same key, and moves credits once. */
  const readOptions = () => {
    const value = amount.current?.value ?? "";
    if (intent.current.amount !== value) intent.current = { amount: value, key: createRandomId() };
    return { account, amount: value, "idempotency-key": intent.current.key };
  };
  return (
    <section class="panel" aria-labelledby="credits">
      <h2 id="credits">Grant credits</h2>
      <CommandForm
        command="credits.grant"
        options={readOptions}
        label="Grant"
        busy="Granting"
        confirm="This moves credits immediately."
        onDone={() => {
          intent.current = { amount: "", key: "" };
          onDone();
        }}
      >
        <label for="amount">Credits to add, or a negative number to take back</label>
        <input id="amount" ref={amount} inputMode="decimal" />
      </CommandForm>
    </section>
  );
};

const KeysPanel = ({ account }: Pick<Props, "account">) => {
  const load = useLoad(
    (signal) => runCommand<readonly ListedKey[]>("keys.list", { account }, signal),
    [account],
  );
  return (
    <section class="panel wide" aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      <Loaded load={load} what="the keys">
        {(keys) => (
          <KeyTable
            keys={keys}
            action={({ key_id: key, name }) => (
              <CommandForm
                key={key}
                command="keys.revoke"
                options={{ account, key }}
                label={`Revoke ${name}`}
                busy="Revoking"
                confirm="Requests with this key fail from now on."
                onDone={load.reload}
              />
            )}
          />
        )}
      </Loaded>
    </section>
  );
};

const StatusPanel = ({ account, status, onDone }: Props & { readonly status: string }) => (
  <section class="panel" aria-labelledby="status">
    <h2 id="status">Access</h2>
    {status === "disabled" ? (
      <CommandForm
        command="accounts.enable"
        options={{ account }}
        label="Enable the account"
        busy="Enabling"
        onDone={onDone}
      />
    ) : (
      <CommandForm
        command="accounts.disable"
        options={{ account }}
        label="Disable the account"
        busy="Disabling"
        confirm="Its keys are refused and its open jobs are cancelled."
        onDone={onDone}
      />
    )}
  </section>
);

export const Account = ({ params }: { readonly params: Params }) => {
  const account = params["account"] ?? "";
  const load = useLoad(
    (signal) => runCommand<Details>("accounts.show", { account }, signal),
    [account],
  );
  return (
    <Screen title={load.data?.name ?? "Account"}>
      <Loaded load={load} what="the account">
        {(details) => (
          <div class="panels">
            <section class="panel main" aria-labelledby="balance">
              <h2 id="balance">Balance</h2>
              <p class="figure">
                {formatNumber(details.credits.available)} <small>credits</small>
              </p>
              <dl class="pairs">
                {toPairs(details).map(([name, value]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                  </div>
                ))}
              </dl>
            </section>
            <CreditsPanel account={account} onDone={load.reload} />
            <StatusPanel account={account} status={details.status} onDone={load.reload} />
            <KeysPanel account={account} />
          </div>
        )}
      </Loaded>
    </Screen>
  );
};
