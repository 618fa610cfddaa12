import type { GetUsageData } from "@mailproof/client";
import { formatCount } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { DayChart } from "../../parts/day-chart.tsx";
import { type Load, Loaded } from "../../parts/load.tsx";
import { toStatusWords } from "../../parts/words.ts";
import { Part } from "./part.tsx";

type Verdicts = GetUsageData["totals"]["verdicts"];
type Status = keyof Verdicts;

export const countVerdicts = (verdicts: Verdicts): number =>
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

export const VerdictsPanel = ({ usage }: { readonly usage: Load<GetUsageData> }) => {
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
