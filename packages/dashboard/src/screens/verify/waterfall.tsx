import { Head } from "../../parts/row-table.tsx";

type Part = { readonly part: string; readonly points: number };

type Props = { readonly parts: readonly Part[]; readonly score: number };

const stack = (parts: readonly Part[]) => {
  let sum = 0;
  return parts.map(({ part, points }, at) => {
    const from = sum;
    sum += points;
    return { part, points, isFirst: at === 0, x: Math.min(from, sum), width: Math.abs(points) };
  });
};

const formatPoints = (points: number, isFirst: boolean): string =>
  points < 0 ? `− ${-points}` : isFirst ? String(points) : `+ ${points}`;

/** Shows the score as the sum of its parts: each bar starts where the previous one ends. */
export const Waterfall = ({ parts, score }: Props) => (
  <table class="waterfall">
    <caption class="unseen">The parts of the score, which add up to it</caption>
    <Head class="unseen" titles={["Part", "Points", "Picture"]} />
    <tbody>
      {stack(parts).map(({ part, points, isFirst, x, width }) => (
        <tr key={part}>
          <th scope="row">{part}</th>
          <td class="number">{formatPoints(points, isFirst)}</td>
          <td class="bar-cell">
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect class="track" width="100" height="8" />
              <rect
                class={isFirst ? "start" : points < 0 ? "less" : "more"}
                x={x}
                width={width}
                height="8"
              />
            </svg>
          </td>
        </tr>
      ))}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">Score</th>
        <td class="number">{score}</td>
        <td class="bar-cell">
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="track" width="100" height="8" />
            <rect class="start" width={score} height="8" />
          </svg>
        </td>
      </tr>
    </tfoot>
  </table>
);
