import { formatCompact, formatDay, formatNumber, formatShare } from "../format.ts";
import { Head } from "./row-table.tsx";
import { StackedBar } from "./stacked-bar.tsx";

export type Series = {
  readonly name: string;
  readonly tone: string;
};

type Props = {
  /** The first and the last day of the picture, as days of the API, such as 2026-11-21. */
  readonly from: string;
  readonly to: string;
  /**
   * One value for each series, in their order. A missing day has no values. Days before `from` are drawn behind the days of the picture, as
   * the period before.
   */
  readonly values: ReadonlyMap<string, readonly number[]>;
  readonly series: readonly Series[];
  readonly sum: string;
  readonly what: string;
};

type Day = {
  readonly date: string;
  readonly values: readonly number[];
  /** The sum of the day at the same place in the period before. */
  readonly before: number;
};

const DAY_MS = 86_400_000;
const HEIGHT = 100;
const GAP = 0.25;
const HEIGHT_MIN = 3;

const STEPS = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];

const add = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const toDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Fills the gaps, because the API returns only days with events. */
const listDays = ({ from, to, values }: Props): readonly Day[] => {
  const days: Day[] = [];
  const periodMs = Date.parse(to) - Date.parse(from) + DAY_MS;
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const date = toDate(at);
    days.push({
      date,
      values: values.get(date) ?? [],
      before: add(values.get(toDate(at - periodMs)) ?? []),
    });
  }
  return days;
};

/** Returns the end of the scale: at least the largest day, and a number that is easy to halve. */
const toScale = (most: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return power * (STEPS.find((step) => step * power >= most) ?? 1);
};

/** Compares two numbers as the text under a chart does: "12% more". Undefined when there is nothing to compare with. */
const toComparison = (now: number, before: number): string | undefined => {
  if (before === 0) return undefined;
  if (now === before) return "as many as in the period before";
  const change = formatShare(Math.abs(now - before) / before);
  return `${change} ${now > before ? "more" : "fewer"} than in the period before`;
};

type BarProps = Pick<Props, "series"> & {
  readonly day: Day;
  readonly at: number;
  readonly scale: number;
};

/** Draws the bar of one day, a part for each series. Its tooltip is for the whole day. */
const DayBar = ({ day: { date, values, before }, at, scale, series }: BarProps) => {
  const sum = add(values);
  const height = sum === 0 ? 0 : Math.max(HEIGHT_MIN, (sum / scale) * HEIGHT);
  const texts = series.map(({ name }, n) => `${formatNumber(values[n] ?? 0)} ${name}`);
  const compared = before === 0 ? "" : ` (${formatNumber(before)} in the period before)`;
  let top = HEIGHT;
  return (
    <g>
      <title>
        {`${formatDay(date)}: ${texts.filter((_, n) => values[n]).join(", ") || "0"}${compared}`}
      </title>
      <rect class="day" x={at} width="1" height={HEIGHT} />
      {before > 0 && (
        <rect
          class="before"
          x={at + GAP / 4}
          y={HEIGHT - (before / scale) * HEIGHT}
          width={1 - GAP / 2}
          height={(before / scale) * HEIGHT}
        />
      )}
      {series.map(({ name, tone }, n) => {
        const part = sum === 0 ? 0 : ((values[n] ?? 0) / sum) * height;
        if (part === 0) return null;
        top -= part;
        return (
          <rect key={name} class={tone} x={at + GAP / 2} y={top} width={1 - GAP} height={part} />
        );
      })}
    </g>
  );
};

const DayTable = ({ days, series, what }: Props & { readonly days: readonly Day[] }) => (
  <details>
    <summary>Numbers</summary>
    <div class="scroll" tabIndex={0} role="region" aria-label={`${what} per day`}>
      <table>
        <Head
          titles={["Day (UTC)", ...series.map(({ name }) => name)]}
          numbers={series.map(({ name }) => name)}
        />
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

/**
 * Draws a bar for each day in the series' colours, the sum of all days, and the same numbers in a table. A single bar compares nothing, so
 * it is not drawn.
 */
export const DayChart = (props: Props) => {
  const { series, sum, what } = props;
  const days = listDays(props);
  const sums = series.map((_, n) => add(days.map(({ values }) => values[n] ?? 0)));
  const total = add(sums);
  const scale = toScale(
    Math.max(...days.map(({ values, before }) => Math.max(add(values), before))),
  );
  const [first, last] = [days[0], days.at(-1)];
  const compared = toComparison(total, add(days.map(({ before }) => before)));
  const isDrawn = days.filter(({ values, before }) => add(values) + before > 0).length > 1;
  return (
    <>
      <figure class="day-chart">
        {isDrawn && (
          <div class="plot">
            <svg
              viewBox={`0 0 ${days.length} ${HEIGHT}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`${sum} in ${days.length} days. The table lists each day.`}
            >
              <path
                class="grid"
                d={`M0 0H${days.length}M0 50H${days.length}M0 100H${days.length}`}
              />
              {days.map((day, at) => (
                <DayBar key={day.date} day={day} at={at} scale={scale} series={series} />
              ))}
            </svg>
            <span aria-hidden="true">{formatCompact(scale)}</span>
            <span aria-hidden="true">{scale % 2 === 0 && formatCompact(scale / 2)}</span>
          </div>
        )}
        <figcaption>
          <span>{first && formatDay(first.date)}</span>
          <span>
            {sum}
            {compared && `, ${compared}`}
          </span>
          <span>{last && formatDay(last.date)}</span>
        </figcaption>
      </figure>
      {total > 0 && (
        <>
          {series.length > 1 && (
            <StackedBar
              parts={series.map((one, n) => ({ ...one, value: sums[n] ?? 0 }))}
              total={total}
              label={`${what} in this period`}
            />
          )}
          <DayTable {...props} days={days} />
        </>
      )}
    </>
  );
};
