import { formatNumber } from "../../format.ts";
import type { Check } from "./check.ts";

const TITLES: Readonly<Record<string, string>> = {
  dns: "Mail hosts (MX)",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  reputation: "Blocklists",
  ptr: "Reverse DNS",
};

/** Why a cap holds, in words. */
const CAP_REASONS: Readonly<Record<string, string>> = {
  no_domain: "the domain does not exist",
  no_spf_no_dkim: "there is neither SPF nor DKIM",
  listed_gravely: "it is on a critical blocklist",
  no_valid_mx: "it cannot receive mail",
  spf_broken: "its SPF record is broken",
  spf_open: "its SPF record allows any server to send",
  no_dmarc: "there is no DMARC record",
  dmarc_none: "DMARC only monitors",
  dkim_unknown: "no DKIM key was found",
};

export const Counting = ({ check }: { readonly check: Check }) => {
  const { components, before_cap: mean, capped_by: cap } = check.score_parts;
  const weights = components.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <section class="panel wide" aria-labelledby="counting">
      <h2 id="counting">How the score is counted</h2>
      <div class="scroll" tabIndex={0} role="group" aria-labelledby="counting">
        <table>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col" class="number">
                Score
              </th>
              <th scope="col" class="number">
                Weight
              </th>
              <th scope="col" class="number">
                Points
              </th>
            </tr>
          </thead>
          <tbody>
            {components.map(({ component, weight, score }) => (
              <tr key={component}>
                <th scope="row">{TITLES[component] ?? component}</th>
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
          {mean}, but no more than <b>{check.score}</b> while {CAP_REASONS[cap] ?? cap}.
        </p>
      )}
      {check.missing_parts.length > 0 && (
        <p class="soft">
          Not answered, and left out of the score:{" "}
          {check.missing_parts.map((part) => TITLES[part] ?? part).join(", ")}.
        </p>
      )}
    </section>
  );
};
