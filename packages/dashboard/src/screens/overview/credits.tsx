import type { GetAccountData, GetUsageData } from "@mailproof/client";
import { formatCount, formatNumber } from "../../format.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { type Load, useLoad } from "../../parts/load.tsx";
import { Waiting } from "../../parts/shape.tsx";
import { account, accountError, getClient, isTestKey, refreshAccount } from "../../session.ts";
import { Part } from "./part.tsx";

export const useUsage = (): Load<GetUsageData> =>
  useLoad((signal) => getClient().getUsage({}, { signal }));

const DAY_MS = 86_400_000;

/** Computes how long the balance lasts at the rate of these days, or since the account was created. Null when nothing was used. */
const countDaysLeft = ({ credits, created_at }: GetAccountData, usage: GetUsageData) => {
  const { credits_used, credits_refunded } = usage.totals;
  const begin = Math.max(Date.parse(usage.from), Date.parse(created_at.slice(0, 10)));
  const days = (Date.parse(usage.to) - begin) / DAY_MS + 1;
  const perDay = (credits_used - credits_refunded) / days;
  return perDay > 0 ? { left: Math.floor(credits.available / perDay), of: Math.round(days) } : null;
};

const YEAR_DAYS = 365;

const Lasting = ({ data, usage }: { data: GetAccountData; usage: GetUsageData }) => {
  const lasting = countDaysLeft(data, usage);
  if (!lasting) return <p class="soft">No credits were used in the last 30 days.</p>;
  const { left, of } = lasting;
  return (
    <p>
      {left > YEAR_DAYS ? "Lasts more than a year" : `Lasts about ${formatCount(left, "day")}`}{" "}
      <span class="soft">
        at the rate of {of === 1 ? "today" : `the last ${formatCount(of, "day")}`}.
      </span>
    </p>
  );
};

type SumsProps = {
  readonly held: number;
  readonly totals: GetUsageData["totals"] | undefined;
};

const Sums = ({ held, totals }: SumsProps) => (
  <dl class="pairs">
    {[
      ["Held", held] as const,
      ...(totals
        ? ([
            ["Used in 30 days", totals.credits_used],
            ["Refunded in 30 days", totals.credits_refunded],
          ] as const)
        : []),
    ].map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{formatNumber(value)}</dd>
      </div>
    ))}
  </dl>
);

export const BalancePanel = ({ usage }: { readonly usage: Load<GetUsageData> }) => {
  const data = account.value;
  return (
    <Part id="balance" title="Balance" error={accountError.value}>
      {data && (
        <>
          <p class="figure">
            {formatNumber(data.credits.available)} <small>credits</small>
          </p>
          {isTestKey.value ? (
            <p class="soft">A test key always has this balance: nothing is charged.</p>
          ) : (
            usage.data && <Lasting data={data} usage={usage.data} />
          )}
          <Sums held={data.credits.held} totals={usage.data?.totals} />
        </>
      )}
      {!data && accountError.value === null && <Waiting what="the balance" shape="figure" />}
      {!data && accountError.value !== null && (
        <ErrorPanel error={accountError.value} onRetry={() => void refreshAccount()} />
      )}
    </Part>
  );
};
