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

const VerdictChart = ({ usage: { from, to, days, totals } }: { readonly usage: GetUsageData }) => {
  const statuses = (Object.keys(totals.verdicts) as Status[]).filter(
    (status) => totals.verdicts[status] > 0,
  );
  return (
    <DayChart
      from={from}
      to={to}
      values={
        new Map(days.map(({ date, verdicts }) => [date, statuses.map((one) => verdicts[one])]))
      }
      series={statuses.map((name) => ({ name: toStatusWords(name), tone: `is-${name}` }))}
      sum={formatCount(countVerdicts(totals.verdicts), "verdict")}
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
      title="Verdicts of 30 days"
      error={error}
      isMain
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
      <Loaded load={usage} what="the verdicts of 30 days" as="bars">
        {(loaded) => <VerdictChart usage={loaded} />}
      </Loaded>
    </Part>
  );
};
