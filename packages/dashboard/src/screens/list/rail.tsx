import { useState } from "preact/hooks";
import { formatCount, formatNumber } from "../../format.ts";
import { type Facets, type FacetValue, listValues } from "./facets.ts";
import { FIELDS, type Field, toWords } from "./filter.ts";

const TONES: Readonly<Record<string, string>> = {
  "send:yes": "is-valid",
  "send:careful": "is-risky",
  "send:no": "is-invalid",
};

const toTone = ({ term, value }: FacetValue): string =>
  TONES[term] ?? (term.startsWith("status:") ? `is-${value}` : "");

type RailProps = {
  readonly all: Facets;
  readonly left: Facets;
  readonly terms: readonly string[];
  readonly onToggle: (term: string) => void;
};

type FacetProps = RailProps & { readonly field: Field; readonly listed?: number };

const BAR = { width: 48, height: 8 };

const Bar = ({ share }: { readonly share: number }) => (
  <svg class="facet-bar" viewBox={`0 0 ${BAR.width} ${BAR.height}`} aria-hidden="true">
    <rect width={share * BAR.width} height={BAR.height} rx="2" />
  </svg>
);

const Value = ({
  value,
  field,
  isChosen,
  isRest,
  most,
  onToggle,
}: Pick<FacetProps, "field" | "onToggle"> & {
  readonly value: FacetValue;
  readonly isChosen: boolean;
  readonly isRest: boolean;
  readonly most: number;
}) => {
  const { term, count, value: code } = value;
  const tone = toTone(value);
  return (
    <li class={isRest ? "is-rest" : ""}>
      <button
        type="button"
        class={`facet-value ${tone}${count === 0 ? " is-none" : ""}`}
        title={code}
        aria-pressed={isChosen}
        onClick={() => onToggle(term)}
      >
        {tone !== "" && <span class="facet-dot" aria-hidden="true" />}
        <span class="facet-name">{toWords(field, code)}</span>
        {field === "send" && <Bar share={count / most} />}
        <span class="number">{formatNumber(count)}</span>
      </button>
    </li>
  );
};

const Facet = ({ field, all, left, terms, onToggle, listed = Infinity }: FacetProps) => {
  const [isWhole, setWhole] = useState(false);
  const values = listValues(field, all, left);
  const most = Math.max(1, ...values.map(({ count }) => count));
  if (values.length === 0) return null;
  const rest = values.filter(({ term }, at) => at >= listed && !terms.includes(term));
  return (
    <section class="facet" aria-label={FIELDS[field]}>
      <h2>{FIELDS[field]}</h2>
      <ul class={`facet-values ${isWhole ? "is-whole" : ""}`}>
        {values.map((value) => (
          <Value
            key={value.term}
            value={value}
            field={field}
            isChosen={terms.includes(value.term)}
            isRest={rest.includes(value)}
            most={most}
            onToggle={onToggle}
          />
        ))}
      </ul>
      {rest.length > 0 && (
        <button type="button" class="facet-more" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Fewer" : `${formatNumber(rest.length)} more`}
          <span class="unseen">: {FIELDS[field]}</span>
        </button>
      )}
    </section>
  );
};

const HEIGHT = 100;
const HEIGHT_MIN = 6;

const Scores = ({ all, left, terms, onToggle }: RailProps) => {
  const values = listValues("score", all, left);
  const most = Math.max(1, ...values.map(({ count }) => count));
  if (values.length === 0) return null;
  return (
    <section class="facet" aria-label={FIELDS.score}>
      <h2>{FIELDS.score}</h2>
      <div class="facet-scores">
        {values.map(({ value, term, count }) => {
          const height = count === 0 ? 1 : Math.max(HEIGHT_MIN, (count / most) * HEIGHT);
          return (
            <button
              key={term}
              type="button"
              aria-pressed={terms.includes(term)}
              title={`${toWords("score", value)}: ${formatCount(count, "row")}`}
              onClick={() => onToggle(term)}
            >
              <span class="unseen">{`${toWords("score", value)}: ${formatCount(count, "row")}`}</span>
              <svg
                viewBox={`0 0 1 ${HEIGHT}`}
                preserveAspectRatio="none"
                aria-hidden="true"
                class={count === 0 ? "is-none" : ""}
              >
                <rect y={HEIGHT - height} width="1" height={height} />
              </svg>
            </button>
          );
        })}
      </div>
      <p class="facet-scale" aria-hidden="true">
        <span>0</span>
        <span>50</span>
        <span>100</span>
      </p>
    </section>
  );
};

/** Shows every value of the list with its number of rows; each line is a button that shows its rows in the table. */
export const Rail = (rail: RailProps) => (
  <>
    <Facet {...rail} field="origin" />
    <Facet {...rail} field="send" />
    <Facet {...rail} field="status" />
    <Facet {...rail} field="reason" listed={7} />
    <Scores {...rail} />
    <Facet {...rail} field="provider" listed={5} />
    <Facet {...rail} field="domain" listed={7} />
  </>
);
