import { formatDay, formatNumber } from "../format.ts";

export type DayValue = { readonly date: string; readonly value: number };

const DAY_MS = 86_400_000;
const HEIGHT = 100;
const GAP = 0.25;

/** The API returns only the days on which something happened. */
export const fillDays = (
  from: string,
  to: string,
  values: readonly DayValue[],
): readonly DayValue[] => {
  const byDate = new Map(values.map(({ date, value }) => [date, value]));
  const days: DayValue[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const date = new Date(at).toISOString().slice(0, 10);
    days.push({ date, value: byDate.get(date) ?? 0 });
  }
  return days;
};

type Props = {
  readonly days: readonly DayValue[];
  /** What the bars count, such as "credits used". */
  readonly what: string;
};

/** A bar for each day. A table has the same numbers, for those who cannot see the bars. */
export const DayChart = ({ days, what }: Props) => {
  const most = Math.max(1, ...days.map(({ value }) => value));
  const sum = days.reduce((total, { value }) => total + value, 0);
  const [first, last] = [days[0], days.at(-1)];
  return (
    <figure class="day-chart">
      <svg
        viewBox={`0 0 ${days.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${formatNumber(sum)} ${what} in ${days.length} days. The table lists each day.`}
      >
        {days.map(({ date, value }, at) => {
          const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT);
          return (
            <rect
              key={date}
              class={value === 0 ? "none" : "some"}
              x={at + GAP / 2}
              y={HEIGHT - height}
              width={1 - GAP}
              height={height}
            >
              <title>{`${formatDay(date)}: ${formatNumber(value)} ${what}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{first && formatDay(first.date)}</span>
        <span>
          {formatNumber(sum)} {what}
        </span>
        <span>{last && formatDay(last.date)}</span>
      </figcaption>
      <DayTable days={days} what={what} />
    </figure>
  );
};

const DayTable = ({ days, what }: Props) => (
  <details>
    <summary>Numbers</summary>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col" class="number">
              {what}
            </th>
          </tr>
        </thead>
        <tbody>
          {days
            .filter(({ value }) => value !== 0)
            .map(({ date, value }) => (
              <tr key={date}>
                <td>{date}</td>
                <td class="number">{formatNumber(value)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  </details>
);
