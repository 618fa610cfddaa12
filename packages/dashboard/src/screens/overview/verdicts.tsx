import type { GetUsageData } from "@mailproof/client";
import { formatCount } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { fillDays } from "../../parts/day-chart.tsx";
import { type Load, Loaded } from "../../parts/load.tsx";
import { StackedDays } from "../../parts/stacked-days.tsx";

type Verdicts = GetUsageData["totals"]["verdicts"];
type Status = keyof Verdicts;

export const countVerdicts = (verdicts: Verdicts): number =>
  Object.values(verdicts).reduce((sum, count) => sum + count, 0);

/** The verdicts of each day by status, and their sums. */
const VerdictChart = ({ usage }: { readonly usage: GetUsageData }) => {
  const { from, to, days } = usage;
  const { verdicts } = usage.totals;
  const statuses = (Object.keys(verdicts) as Status[]).filter((status) => verdicts[status] > 0);
  const byDate = new Map(days.map((day) => [day.date, day.verdicts]));
  return (
    <StackedDays
      days={fillDays(from, to, []).map(({ date }) => ({
        date,
        values: statuses.map((status) => byDate.get(date)?.[status] ?? 0),
      }))}
      series={statuses.map((name) => ({ name, tone: `is-${name}` }))}
      sum={formatCount(countVerdicts(verdicts), "verdict")}
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
  const { data } = usage;
  return (
    <section class="panel" aria-labelledby="verdicts">
      <div class="heading">
        <h2 id="verdicts">Verdicts of 30 days</h2>
        {data && (
          <CsvButton
            of="Verdicts per day"
            fileName={`verdicts-${data.from}-${data.to}`}
            getTable={() => toTable(data)}
          />
        )}
      </div>
      <Loaded load={usage} what="the verdicts of 30 days">
        {(loaded) => <VerdictChart usage={loaded} />}
      </Loaded>
    </section>
  );
};
