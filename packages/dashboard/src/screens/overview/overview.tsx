import { toDocsHref, toHref } from "../../base.ts";
import { type Load, Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { account, accountError, isForbidden, may } from "../../session.ts";
import { DomainList, loadLatest } from "../domains/domain-list.tsx";
import { BalancePanel, useUsage } from "./credits.tsx";
import { DecisionsPanel } from "./decisions.tsx";
import "./overview.css";
import type { CheckSummary, GetUsageData } from "@mailproof/client";
import { formatCount } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { DayChart } from "../../parts/day-chart.tsx";
import { OneLineForm } from "../../parts/one-line-form.tsx";
import { toStatusWords } from "../../parts/words.ts";
import { navigate } from "../../router.ts";
import { ListsPanel } from "./lists.tsx";
import { Part } from "./part.tsx";

export const Overview = () => {
  const usage = useUsage();
  const domains = useLoad(loadLatest);
  const isNew =
    account.value?.credits.spent === 0 &&
    usage.data !== undefined &&
    countVerdicts(usage.data.totals.verdicts) === 0;
  return (
    <Screen
      title="Overview"
      actions={
        may("verification:write") && (
          <a class="button" href={toHref("lists/new")}>
            New list
          </a>
        )
      }
    >
      <div class="overview">
        <div class="panels">
          {may("verification:write") && <QuickVerify isNew={isNew} />}
          <ListsPanel />
          <VerdictsPanel usage={usage} />
        </div>
        <div class="panels">
          <DecisionsPanel domains={domains} />
          <BalancePanel usage={usage} />
          <DomainsPanel load={domains} />
        </div>
      </div>
      {isForbidden(accountError.value) && (
        <p class="soft">This key has some scopes only. What it may not read is left out here.</p>
      )}
    </Screen>
  );
};

const SHOWN = 6;

const DomainsPanel = ({ load }: { readonly load: Load<readonly CheckSummary[]> }) => (
  <Part
    id="domains"
    title="Domains"
    error={load.error}
    action={<a href={toHref("domains")}>Check a domain</a>}
  >
    <Loaded load={load} what="the checks of domains" as="grades">
      {(domains) =>
        domains.length === 0 ? (
          <p class="soft">No domain has been checked yet.</p>
        ) : (
          <DomainList checks={domains.slice(0, SHOWN)} />
        )
      }
    </Loaded>
  </Part>
);

type QuickVerifyProps = { readonly isNew: boolean };

/**
 * A new account gets instructions above the field. The account loads after the field is shown, so the field element must stay the same, or
 * the text typed meanwhile is lost.
 */
const QuickVerify = ({ isNew }: QuickVerifyProps) => (
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

type Verdicts = GetUsageData["totals"]["verdicts"];
type Status = keyof Verdicts;

const countVerdicts = (verdicts: Verdicts): number =>
  Object.values(verdicts).reduce((sum, count) => sum + count, 0);

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

const VerdictChart = ({ usage: { to, days, totals } }: { readonly usage: GetUsageData }) => {
  const statuses = (Object.keys(totals.verdicts) as Status[]).filter(
    (status) => totals.verdicts[status] > 0,
  );
  const from = new Date(Date.parse(to) - (WEEK_DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
  const week = days
    .filter(({ date }) => date >= from)
    .map(({ verdicts }) => countVerdicts(verdicts));
  return (
    <DayChart
      from={from}
      to={to}
      values={
        new Map(days.map(({ date, verdicts }) => [date, statuses.map((one) => verdicts[one])]))
      }
      series={statuses.map((name) => ({ name: toStatusWords(name), tone: `is-${name}` }))}
      sum={formatCount(
        week.reduce((sum, count) => sum + count, 0),
        "verdict",
      )}
      what="Verdicts"
    />
  );
};

const toTable = (usage: GetUsageData) => {
  const statuses = Object.keys(usage.totals.verdicts) as Status[];
  return {
    header: ["date", ...statuses],
    rows: usage.days.map(({ date, verdicts }) => [
      date,
      ...statuses.map((status) => verdicts[status]),
    ]),
  };
};

const VerdictsPanel = ({ usage }: { readonly usage: Load<GetUsageData> }) => {
  const { data, error } = usage;
  return (
    <Part
      id="verdicts"
      title="This week"
      error={error}
      action={
        data && (
          <CsvButton
            of="Verdicts per day"
            fileName={`verdicts-${data.from}-${data.to}`}
            getTable={() => toTable(data)}
          />
        )
      }
    >
      <Loaded load={usage} what="the verdicts of this week" as="bars">
        {(loaded) => <VerdictChart usage={loaded} />}
      </Loaded>
    </Part>
  );
};
