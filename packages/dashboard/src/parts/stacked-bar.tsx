import { formatNumber, formatShares } from "../format.ts";

export type BarPart = {
  readonly name: string;
  readonly value: number;
  readonly tone: string;
};

type Props = {
  readonly parts: readonly BarPart[];
  /** The value of a full bar. When the parts add up to less, the end of the bar stays empty. */
  readonly total: number;
  readonly label: string;
};

export const StackedBar = ({ parts, total, label }: Props) => {
  const shown = parts.filter(({ value }) => value > 0);
  const shares = formatShares(
    shown.map(({ value }) => value),
    total,
  );
  let left = 0;
  return (
    <div class="stacked-bar">
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={label}>
        <rect class="empty" width="1000" height="10" />
        {shown.map(({ name, value, tone }) => {
          const width = total === 0 ? 0 : (value / total) * 1000;
          const x = left;
          left += width;
          return <rect key={name} class={tone} x={x} width={width} height="10" />;
        })}
      </svg>
      <ul>
        {shown.map(({ name, value, tone }, at) => (
          <li key={name} class={tone}>
            {name} <b>{formatNumber(value)}</b>{" "}
            <span class="soft">{total === 0 ? "" : shares[at]}</span>
          </li>
        ))}
      </ul>
    </div>
  );
};
