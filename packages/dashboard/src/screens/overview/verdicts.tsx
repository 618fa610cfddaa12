import type { GetUsageData } from "@mailproof/client";
import { formatCount, formatDay, formatNumber } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { fillDays } from "../../parts/day-chart.tsx";
import { type Load, Loaded } from "../../parts/load.tsx";
import { StackedBar } from "../../parts/stacked-bar.tsx";

type Verdicts = GetUsageData["totals"]["verdicts"];
type Status = keyof Verdicts;
type Day = { readonly date: string; readonly sum: number; readonly verdicts: Verdicts | undefined };

export const countVerdicts = (verdicts: Verdicts): number =>
  Object.values(verdicts).reduce((sum, count) => sum + count, 0);

/** Every day, also those on which nothing was verified. */
const listDays = ({ from, to, days }: GetUsageData): readonly Day[] => {
  const byDate = new Map(days.map(({ date, verdicts }) => [date, verdicts]));
  const sums = days.map(({ date, verdicts }) => ({ date, value: countVerdicts(verdicts) }));
  return fillDays(from, to, sums).map(({ date, value: sum }) => ({
    date,
    sum,
    verdicts: byDate.get(date),
  }));
};

const HEIGHT = 100;
const GAP = 0.25;

type DaysProps = {
  readonly days: readonly Day[];
  /** Those that occur, from the bottom of a bar to its top. */
  readonly statuses: readonly Status[];
};

/** A bar of one day: a part for each status, one on the other. */
const DayBar = ({
  day,
  at,
  most,
  statuses,
}: { day: Day; at: number; most: number } & Omit<DaysProps, "days">) => {
  const { date, sum, verdicts } = day;
  const own = { x: at + GAP / 2, width: 1 - GAP };
  if (!verdicts || sum === 0) return <rect class="none" y={HEIGHT - 1} height={1} {...own} />;
  // A day with little beside one with much is seen, too.
  const height = Math.max(3, (sum / most) * HEIGHT);
  let top = HEIGHT;
  return (
    <>
      {statuses
        .filter((status) => verdicts[status] > 0)
        .map((status) => {
          const part = (verdicts[status] / sum) * height;
          top -= part;
          return (
            <rect key={status} class={`some is-${status}`} y={top} height={part} {...own}>
              <title>{`${formatDay(date)}: ${formatNumber(verdicts[status])} ${status}`}</title>
            </rect>
          );
        })}
    </>
  );
};

const DayTable = ({ days, statuses }: DaysProps) => (
  <details>
    <summary>Numbers</summary>
    <div class="scroll" tabIndex={0} role="region" aria-label="Verdicts per day">
      <table>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {statuses.map((status) => (
              <th key={status} scope="col" class="number">
                {status}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map(
            ({ date, verdicts }) =>
              verdicts && (
                <tr key={date}>
                  <td>{date}</td>
                  {statuses.map((status) => (
                    <td key={status} class="number">
                      {formatNumber(verdicts[status])}
                    </td>
                  ))}
                </tr>
              ),
          )}
        </tbody>
      </table>
    </div>
  </details>
);

/** The verdicts of each day by status, and their sums. */
const VerdictChart = ({ usage }: { readonly usage: GetUsageData }) => {
  const days = listDays(usage);
  const { verdicts } = usage.totals;
  const statuses = (Object.keys(verdicts) as Status[]).filter((status) => verdicts[status] > 0);
  const sum = countVerdicts(verdicts);
  const most = Math.max(...days.map((day) => day.sum));
  return (
    <>
      <figure class="day-chart">
        <svg
          viewBox={`0 0 ${days.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${formatCount(sum, "verdict")} in ${days.length} days. The table has each day.`}
        >
          {days.map((day, at) => (
            <DayBar key={day.date} day={day} at={at} most={most} statuses={statuses} />
          ))}
        </svg>
        <figcaption>
          <span>{formatDay(usage.from)}</span>
          <span>{formatCount(sum, "verdict")}</span>
          <span>{formatDay(usage.to)}</span>
        </figcaption>
      </figure>
      {sum > 0 && (
        <>
          <StackedBar
            parts={statuses.map((name) => ({ name, value: verdicts[name], tone: `is-${name}` }))}
            total={sum}
            label="Verdicts of these days"
          />
          <DayTable days={days} statuses={statuses} />
        </>
      )}
    </>
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
