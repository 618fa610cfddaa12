import type { GetUsageData } from "@mailproof/client";
import { useLayoutEffect } from "preact/hooks";
import { formatNumber } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { DayChart } from "../../parts/day-chart.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { PeriodTabs, readPeriod } from "../../parts/period.tsx";
import { Screen } from "../../parts/screen.tsx";
import { StackedBar } from "../../parts/stacked-bar.tsx";
import { toStatusWords } from "../../parts/words.ts";
import { account, accountError, getClient, refreshAccount } from "../../session.ts";
import { LedgerPanel } from "./ledger.tsx";
import "./usage.css";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Head } from "../../parts/row-table.tsx";
import { Waiting } from "../../parts/shape.tsx";
import { OPERATIONS } from "./words.ts";

export const Usage = () => {
  const period = readPeriod();
  const { from, to, days } = period;
  const usage = useLoad((signal) => getClient().getUsage({ from, to }, { signal }), [from, to]);
  // The balance that the frame read may be older than the entries below.
  useLayoutEffect(() => void refreshAccount(), [from, to]);
  const fileName = `mailproof-${from}-to-${to}`;
  return (
    <Screen title="Usage" tabs={<PeriodTabs path="usage" chosen={days} />}>
      <BalanceSum />
      <div class="panels">
        <Loaded load={usage} what={`the usage of ${days} days`} as="bars">
          {(data) => (
            <>
              <CreditsPanel data={data} fileName={fileName} />
              <OperationsPanel totals={data.totals} fileName={fileName} />
              <VerdictsPanel data={data} fileName={fileName} />
            </>
          )}
        </Loaded>
        <LedgerPanel period={period} fileName={fileName} />
      </div>
    </Screen>
  );
};

type PanelProps = { readonly data: GetUsageData; readonly fileName: string };

const CreditsPanel = ({ data: { from, to, days, totals }, fileName }: PanelProps) => {
  const { credits_granted, credits_used, credits_refunded } = totals;
  const getTable = () => ({
    header: ["date", "credits_granted", "credits_used", "credits_refunded"],
    rows: days.map((day) => [
      day.date,
      day.credits_granted,
      day.credits_used,
      day.credits_refunded,
    ]),
  });
  return (
    <section class="panel main wide" aria-labelledby="credits">
      <div class="heading">
        <h2 id="credits">Credits per day</h2>
        <CsvButton of="Credits per day" fileName={`${fileName}-credits`} getTable={getTable} />
      </div>
      <DayChart
        from={from}
        to={to}
        values={new Map(days.map(({ date, credits_used: used }) => [date, [used]]))}
        series={[{ name: "credits used", tone: "is-used" }]}
        sum={`${formatNumber(credits_used)} credits used`}
        what="Credits used"
      />
      <p class="soft">
        In this period: {formatNumber(credits_granted)} granted, {formatNumber(credits_used)} used,{" "}
        {formatNumber(credits_refunded)} refunded. What is still held counts as used. Everything is
        counted on the day (UTC) its request was accepted.
      </p>
    </section>
  );
};

const VerdictsPanel = ({ data: { days, totals }, fileName }: PanelProps) => {
  const statuses = Object.keys(totals.verdicts) as (keyof typeof totals.verdicts)[];
  const total = statuses.reduce((sum, status) => sum + totals.verdicts[status], 0);
  const getTable = () => ({
    header: ["date", ...statuses],
    rows: days.map(({ date, verdicts }) => [date, ...statuses.map((status) => verdicts[status])]),
  });
  return (
    <section class="panel" aria-labelledby="verdicts">
      <div class="heading">
        <h2 id="verdicts">Verdicts</h2>
        <CsvButton of="Verdicts per day" fileName={`${fileName}-verdicts`} getTable={getTable} />
      </div>
      {total === 0 ? (
        <p class="soft">No addresses were verified in this period.</p>
      ) : (
        <>
          <p>{formatNumber(total)} results</p>
          <StackedBar
            label="Results by status"
            total={total}
            parts={statuses.map((status) => ({
              name: toStatusWords(status),
              value: totals.verdicts[status],
              tone: `is-${status}`,
            }))}
          />
        </>
      )}
    </section>
  );
};

/** The sum is granted − used + refunded − held = balance, since the account was created. */
const BalanceSum = () => {
  const credits = account.value?.credits;
  if (!credits)
    return accountError.value === null ? (
      <Waiting what="the balance" shape="figure" />
    ) : (
      <ErrorPanel error={accountError.value} onRetry={() => void refreshAccount()} />
    );
  const { granted, used, refunded, held, available } = credits;
  const terms = [
    ["", "Granted", granted],
    ["−", "Used", used],
    ["+", "Refunded", refunded],
    ["−", "Held", held],
    ["=", "Balance", available],
  ] as const;
  return (
    <dl class="sum" aria-label="How the balance adds up, in credits">
      {terms.map(([sign, name, value]) => (
        <div key={name} class={name === "Balance" ? "term result" : "term"}>
          <dt>
            {sign} {name}
          </dt>
          <dd>{formatNumber(value)}</dd>
        </div>
      ))}
    </dl>
  );
};

type Row = { readonly name: string; readonly used: number; readonly refunded: number };

const listRows = ({ credits_used, credits_refunded, by_operation }: GetUsageData["totals"]) => {
  const rows: Row[] = by_operation.map((one) => ({
    name: OPERATIONS[one.operation],
    used: one.credits_used,
    refunded: one.credits_refunded,
  }));
  const sum = (field: "used" | "refunded") => rows.reduce((total, row) => total + row[field], 0);
  const other = {
    name: "Before operations were recorded",
    used: credits_used - sum("used"),
    refunded: credits_refunded - sum("refunded"),
  };
  return other.used === 0 && other.refunded === 0 ? rows : [...rows, other];
};

type Props = { readonly totals: GetUsageData["totals"]; readonly fileName: string };

const OperationsPanel = ({ totals, fileName }: Props) => {
  const rows = listRows(totals);
  const most = Math.max(1, ...rows.map(({ used }) => used));
  const getTable = () => ({
    header: ["operation", "credits_used", "credits_refunded"],
    rows: rows.map(({ name, used, refunded }) => [name, used, refunded]),
  });
  return (
    <section class="panel operations" aria-labelledby="operations">
      <div class="heading">
        <h2 id="operations">By operation</h2>
        <CsvButton
          of="Credits by operation"
          fileName={`${fileName}-by-operation`}
          getTable={getTable}
        />
      </div>
      {rows.length === 0 ? (
        <p class="soft">No credits were used in this period.</p>
      ) : (
        <table>
          <Head titles={["Operation", "Used", "Refunded"]} numbers={["Used", "Refunded"]} />
          <tbody>
            {rows.map(({ name, used, refunded }) => (
              <tr key={name}>
                <th scope="row">
                  {name}
                  <svg
                    class="share"
                    viewBox="0 0 100 4"
                    preserveAspectRatio="none"
                    aria-hidden="true"
                  >
                    <rect width={(used / most) * 100} height="4" />
                  </svg>
                </th>
                <td class="number">{formatNumber(used)}</td>
                <td class="number">{formatNumber(refunded)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
};
