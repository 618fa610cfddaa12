import { formatDay, formatNumber } from "../format.ts";
import { StackedBar } from "./stacked-bar.tsx";

export type StackedDay = {
  /** A day of the API, such as 2026-11-21. */
  readonly date: string;
  /** One for each series, in their order. */
  readonly values: readonly number[];
};

export type Series = {
  readonly name: string;
  /** A class that sets --tone, such as "is-valid". */
  readonly tone: string;
};

type Props = {
  /** Every day, including those on which nothing happened. */
  readonly days: readonly StackedDay[];
  /** From the bottom of a bar to its top. */
  readonly series: readonly Series[];
  /** The sum in words, such as "1,204 verdicts". */
  readonly sum: string;
  /** What the numbers are, such as "Verdicts". */
  readonly what: string;
};

const HEIGHT = 100;
const GAP = 0.25;

const add = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** A bar of one day: a part for each series, one on the other. */
const DayBar = ({
  day: { date, values },
  at,
  most,
  series,
}: { day: StackedDay; at: number; most: number } & Pick<Props, "series">) => {
  const sum = add(values);
  const own = { x: at + GAP / 2, width: 1 - GAP };
  if (sum === 0) return <rect class="none" y={HEIGHT - 1} height={1} {...own} />;
  // A small day stays visible next to a large one.
  const height = Math.max(3, (sum / most) * HEIGHT);
  let top = HEIGHT;
  return (
    <>
      {series.map(({ name, tone }, n) => {
        const value = values[n] ?? 0;
        if (value === 0) return null;
        const part = (value / sum) * height;
        top -= part;
        return (
          <rect key={name} class={`some ${tone}`} y={top} height={part} {...own}>
            <title>{`${formatDay(date)}: ${formatNumber(value)} ${name}`}</title>
          </rect>
        );
      })}
    </>
  );
};

const DayTable = ({ days, series, what }: Props) => (
  <details>
    <summary>Numbers</summary>
    <div class="scroll" tabIndex={0} role="region" aria-label={`${what} per day`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days
            .filter(({ values }) => add(values) > 0)
            .map(({ date, values }) => (
              <tr key={date}>
                <td>{date}</td>
                {series.map(({ name }, n) => (
                  <td key={name} class="number">
                    {formatNumber(values[n] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  </details>
);

/** A bar of several colours for each day, the sum of them all, and the same numbers in a table. */
export const StackedDays = (props: Props) => {
  const { days, series, sum, what } = props;
  const sums = series.map((_, n) => add(days.map(({ values }) => values[n] ?? 0)));
  const total = add(sums);
  const most = Math.max(...days.map(({ values }) => add(values)));
  const [first, last] = [days[0], days.at(-1)];
  return (
    <>
      <figure class="day-chart">
        <svg
          viewBox={`0 0 ${days.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${sum} in ${days.length} days. The table lists each day.`}
        >
          {days.map((day, at) => (
            <DayBar key={day.date} day={day} at={at} most={most} series={series} />
          ))}
        </svg>
        <figcaption>
          <span>{first && formatDay(first.date)}</span>
          <span>{sum}</span>
          <span>{last && formatDay(last.date)}</span>
        </figcaption>
      </figure>
      {total > 0 && (
        <>
          <StackedBar
            parts={series.map((one, n) => ({ ...one, value: sums[n] ?? 0 }))}
            total={total}
            label={`${what} in this period`}
          />
          <DayTable {...props} />
        </>
      )}
    </>
  );
};
