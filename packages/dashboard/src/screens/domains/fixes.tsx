import { formatCount } from "../../format.ts";
import type { Check, Recommendation } from "./check.ts";
import { RecordBox } from "./record-box.tsx";

/** Recommendations that one record resolves together, and the points of the record. */
type Fix = {
  readonly key: string;
  readonly points: number;
  readonly parts: readonly Recommendation[];
};

const groupByRecord = (recommendations: readonly Recommendation[]): readonly Fix[] => {
  const groups = Map.groupBy(recommendations, ({ id, record }) =>
    record ? `${record.type} ${record.name} ${record.value}` : id,
  );
  return [...groups]
    .map(([key, parts]) => ({ key, parts, points: getPoints(parts) }))
    .toSorted((a, b) => b.points - a.points);
};

const getPoints = (parts: readonly Recommendation[]): number =>
  Math.max(...parts.map((one) => one.record_points ?? one.points_regained));

const Item = ({ fix: { parts, points } }: { readonly fix: Fix }) => {
  const [first] = parts;
  if (!first) return null;
  return (
    <li>
      {points > 0 && <p class="points">+{formatCount(points, "point")}</p>}
      {parts.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
      <RecordBox {...first} />
    </li>
  );
};

/** What to do, by the points that it regains. What costs no points follows below. */
export const Fixes = ({ check }: { readonly check: Check }) => {
  const fixes = groupByRecord(check.recommendations);
  const isHint = ({ parts }: Fix) => parts.every(({ severity }) => severity === "info");
  const [needed, hints] = [fixes.filter((fix) => !isHint(fix)), fixes.filter(isHint)];
  const { after_records: after } = check;
  return (
    <section class="panel wide" aria-labelledby="fixes">
      <h2 id="fixes">What to fix first</h2>
      {needed.length === 0 && <p>Nothing needs fixing.</p>}
      {after && after.score > check.score && (
        <p>
          Once you publish the SPF and DMARC values below, the score is at least{" "}
          <b>{after.score}</b>, grade <b>{after.grade}</b>.
        </p>
      )}
      <ol class="fixes">
        {needed.map((fix) => (
          <Item key={fix.key} fix={fix} />
        ))}
      </ol>
      {hints.length > 0 && (
        <details class="hints">
          <summary>{formatCount(hints.length, "improvement")} without points</summary>
          <ul class="fixes">
            {hints.map((fix) => (
              <Item key={fix.key} fix={fix} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
};
