import { formatNumber, formatShare } from "../../format.ts";

export type BarItem = {
  readonly name: string;
  readonly count: number;
  /** The term of the filter. */
  readonly term: string;
  readonly tone?: string;
};

type Props = {
  readonly title: string;
  readonly items: readonly BarItem[];
  readonly total: number;
  readonly isChosen: (term: string) => boolean;
  readonly onToggle: (term: string) => void;
};

/** A bar for each value, with its number. A bar is a button: the table shows its rows. */
export const FilterBars = ({ title, items, total, isChosen, onToggle }: Props) => {
  const id = `bars-${title.toLowerCase().replaceAll(" ", "-")}`;
  const most = Math.max(1, ...items.map(({ count }) => count));
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {items.length === 0 && <p class="soft">No results yet.</p>}
      <ul class="plain bars">
        {items.map(({ name, count, term, tone = "" }) => (
          <li key={term}>
            <button
              type="button"
              class={`bar-button ${tone}`}
              aria-pressed={isChosen(term)}
              onClick={() => onToggle(term)}
            >
              <span class="bar-name" title={name}>
                {name}
              </span>
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="bar-value" width={(count / most) * 100} height="8" />
              </svg>
              <span class="number">
                {formatNumber(count)}{" "}
                <span class="soft">{total === 0 ? "" : formatShare(count / total)}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
};
