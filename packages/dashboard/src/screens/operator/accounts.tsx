import { useRef, useState } from "preact/hooks";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { runCommand } from "../../session.ts";
import { CommandForm } from "./command.tsx";
import "./operator.css";
import { toHref } from "../../base.ts";
import { formatNumber, formatTime } from "../../format.ts";
import { type Column, RowTable } from "../../parts/row-table.tsx";

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

type AccountSummary = {
  readonly account_id: string;
  readonly name: string;
  readonly plan: string;
  readonly status: string;
  readonly created_at: string;
  readonly available: number;
  readonly used_30_days: number;
  readonly last_call_at: string | null;
};

const COLUMNS: readonly Column<AccountSummary>[] = [
  {
    title: "Name",
    isHeader: true,
    cell: ({ account_id, name }) => <a href={toHref(`accounts/${account_id}`)}>{name}</a>,
  },
  { title: "Plan", cell: ({ plan }) => plan },
  { title: "Status", cell: ({ status }) => status },
  { title: "Created", cell: ({ created_at: at }) => <time dateTime={at}>{formatTime(at)}</time> },
  {
    title: "Last call",
    cell: ({ last_call_at: at }) =>
      at === null ? "never" : <time dateTime={at}>{formatTime(at)}</time>,
  },
  { title: "Used, 30 days", isNumber: true, cell: (one) => formatNumber(one.used_30_days) },
  { title: "Balance", isNumber: true, cell: ({ available }) => formatNumber(available) },
];

type Order = { readonly name: string; readonly of: (one: AccountSummary) => number | string };

const ORDERS: readonly [Order, ...Order[]] = [
  { name: "Last call", of: ({ last_call_at: at }) => at ?? "" },
  { name: "Use of 30 days", of: ({ used_30_days: used }) => used },
  { name: "Balance", of: ({ available }) => available },
  { name: "Newest account", of: ({ created_at: at }) => at },
];

const sortBy = ({ of }: Order, accounts: readonly AccountSummary[]) =>
  accounts.toSorted((a, b) => (of(a) < of(b) ? 1 : of(a) > of(b) ? -1 : 0));

const AccountTable = ({ accounts }: { readonly accounts: readonly AccountSummary[] }) => {
  const [order, setOrder] = useState(ORDERS[0]);
  return (
    <>
      <p class="order">
        <label for="order">Sort by</label>
        <select
          id="order"
          onChange={({ currentTarget: { selectedIndex } }) =>
            setOrder(ORDERS[selectedIndex] ?? ORDERS[0])
          }
        >
          {ORDERS.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </p>
      <div class="scroll accounts" role="region" aria-label="Accounts" tabIndex={0}>
        <RowTable
          label="Accounts"
          columns={COLUMNS}
          rows={sortBy(order, accounts)}
          getKey={({ account_id }) => account_id}
        />
      </div>
    </>
  );
};
