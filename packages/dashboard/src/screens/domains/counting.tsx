import { formatNumber } from "../../format.ts";
import { Head } from "../../parts/row-table.tsx";
import type { MessageReport } from "../mail-tests/mail-test.ts";
import type { Check } from "./check.ts";

const NUMBERS = ["Score", "Weight", "Points"];

type Props = {
  readonly scored: Pick<Check | MessageReport, "score" | "score_parts" | "missing_parts">;
  readonly titles: Readonly<Record<string, string>>;
  readonly capReasons: Readonly<Record<string, string>>;
};

export const Counting = ({ scored, titles, capReasons }: Props) => {
  const { components, before_cap: mean, capped_by: cap } = scored.score_parts;
  const weights = components.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <section class="panel history wide" aria-labelledby="counting">
      <h2 id="counting">How the score is calculated</h2>
      <div class="scroll" tabIndex={0} role="group" aria-labelledby="counting">
        <table>
          <Head titles={["Part", ...NUMBERS]} numbers={NUMBERS} />
          <tbody>
            {components.map(({ component, weight, score }) => (
              <tr key={component}>
                <th scope="row">{titles[component] ?? component}</th>
                <td class="number">{score}</td>
                <td class="number">{weight}</td>
                <td class="number">
                  {formatNumber(Math.round((weight * score * 10) / weights) / 10)}
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Weighted mean</th>
              <td />
              <td class="number">{weights}</td>
              <td class="number">{mean}</td>
            </tr>
          </tfoot>
        </table>
      </div>
      {cap !== undefined && (
        <p>
          {mean}, but no more than <b>{scored.score}</b> while {capReasons[cap] ?? cap}.
        </p>
      )}
      {scored.missing_parts.length > 0 && (
        <p class="soft">
          No answer, so left out of the score:{" "}
          {scored.missing_parts.map((part) => titles[part] ?? part).join(", ")}.
        </p>
      )}
    </section>
  );
};
