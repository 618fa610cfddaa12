import { formatCount } from "../../format.ts";
import type { Check, Recommendation } from "./check.ts";
import { RecordBox } from "./record-box.tsx";

export type FixPart = Pick<
  Recommendation,
  | "id"
  | "text"
  | "severity"
  | "points_regained"
  | "record_points"
  | "record"
  | "replaces"
  | "file"
  | "note"
> & {
  readonly message?: string;
};

type Fix = {
  readonly key: string;
  readonly points: number;
  readonly parts: readonly FixPart[];
};

const groupByRecord = (parts: readonly FixPart[]): readonly Fix[] => {
  const groups = Map.groupBy(parts, ({ id, text, record }) =>
    record ? `${record.type} ${record.name} ${record.value}` : `${id} ${text}`,
  );
  return [...groups]
    .map(([key, group]) => ({ key, parts: group, points: getPoints(group) }))
    .toSorted((a, b) => b.points - a.points);
};

const getPoints = (parts: readonly FixPart[]): number =>
  Math.max(...parts.map((one) => one.record_points ?? one.points_regained));

const Item = ({ fix: { parts, points } }: { readonly fix: Fix }) => {
  const [first] = parts;
  if (!first) return null;
  return (
    <li>
      {points > 0 && <p class="points">+{formatCount(points, "point")}</p>}
      {parts.map(({ id, message, text }) => (
        <p key={`${id} ${message}`}>
          {message !== undefined && (
            <>
              <b>{message}</b>
              <br />
            </>
          )}
          {text}
          {id === "spf_lookups" && (
            <>
              {" "}
              <a href="#spf-tree">Choose what to replace</a>
            </>
          )}
        </p>
      ))}
      <RecordBox {...first} />
    </li>
  );
};

export const FixList = ({ parts }: { readonly parts: readonly FixPart[] }) => {
  const fixes = groupByRecord(parts);
  const isHint = (fix: Fix) => fix.parts.every(({ severity }) => severity === "info");
  const [needed, hints] = [fixes.filter((fix) => !isHint(fix)), fixes.filter(isHint)];
  return (
    <>
      {needed.length === 0 && <p>Nothing needs fixing.</p>}
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
    </>
  );
};

export const Fixes = ({ check }: { readonly check: Check }) => {
  const { after_records: after } = check;
  return (
    <section class="panel main wide" aria-labelledby="fixes">
      <h2 id="fixes">What to fix first</h2>
      {after && after.score > check.score && (
        <p>
          Once you publish the SPF and DMARC values below, the score is at least{" "}
          <b>{after.score}</b>, grade <b>{after.grade}</b>.
        </p>
      )}
      <FixList parts={check.recommendations} />
    </section>
  );
};
