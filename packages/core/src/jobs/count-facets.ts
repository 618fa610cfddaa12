import { STATUSES } from "../verify/result.ts";
import { SEND_ADVICES, toSendAdvice } from "../verify/send-advice.ts";
import { toBand, toScoreBands } from "./result-summary.ts";
import { createDomainTest, matchesKind, type RowFilter } from "./row-filter.ts";
import { getKindAt, type IndexPiece, type RowIndex, type RowKind } from "./row-index.ts";
import { createTexts, findText, getEnd, type PieceTexts } from "./row-refs.ts";

// What each value of a filter would leave: its rows among those that pass the filter's other fields. So a value that is not
// chosen has its number, and one that is chosen keeps it.

type Field = keyof RowFilter;

/** For each field, the number of rows of each value, by the values as a filter has them. */
export type Facets = Readonly<Record<Field, Readonly<Record<string, number>>>>;

/** Those that are of the kind. The domain is in the address. */
const KIND_FIELDS = ["send", "status", "reason", "provider", "score"] as const;

const SCORES = toScoreBands(() => 0).map(({ from, to }) => `${from}-${to}`);

const VALUES: Readonly<Partial<Record<Field, readonly string[]>>> = {
  send: SEND_ADVICES,
  status: STATUSES,
  score: SCORES,
};

/** The value of each field. */
const toValues = ([status, score, reason, provider]: RowKind) => ({
  send: toSendAdvice(status),
  status,
  reason,
  provider,
  score: SCORES[toBand(score)] ?? "",
});

type Obstacle = Field | "none" | "several";

/** The field that alone keeps a kind out. */
const createObstacleFinder = (filter: RowFilter) => {
  const tests = KIND_FIELDS.filter((field) => filter[field]).map(
    (field) => [field, matchesKind({ [field]: filter[field] })] as const,
  );
  return (kind: RowKind): Obstacle => {
    const failed = tests.filter(([, test]) => !test(kind));
    return failed.length > 1 ? "several" : (failed[0]?.[0] ?? "none");
  };
};

/** `domains`: those that are counted. */
export const countFacets = async (
  { pieces, readAddresses }: RowIndex,
  { filter, text }: { readonly filter: RowFilter; readonly text: string | undefined },
  domains: readonly string[],
  pause: () => Promise<void>,
): Promise<Facets> => {
  const texts = createTexts(pieces, await readAddresses());
  await pause();
  const counts: Record<Field, Record<string, number>> = {
    send: {},
    status: {},
    reason: {},
    provider: {},
    score: {},
    domain: Object.fromEntries(domains.map((domain) => [domain, 0])),
  };
  for (const [field, values = []] of Object.entries(VALUES))
    for (const value of values) counts[field as Field][value] = 0;
  const findObstacle = createObstacleFinder(filter);
  const part = text?.toLowerCase();
  for (const [at, piece] of pieces.entries()) {
    const obstacles = piece.kinds.map(findObstacle);
    const wanted = { texts: texts(at), part, obstacles, filter };
    const rowsByKind = countPiece(piece, wanted, counts.domain);
    for (const [kindAt, kind] of piece.kinds.entries()) {
      const obstacle = obstacles[kindAt];
      const values = toValues(kind);
      for (const field of KIND_FIELDS) {
        const value = values[field];
        if (value === null || (obstacle !== "none" && obstacle !== field)) continue;
        counts[field][value] = (counts[field][value] ?? 0) + (rowsByKind[kindAt] ?? 0);
      }
    }
  }
  return counts;
};

type Wanted = {
  readonly texts: PieceTexts;
  readonly part: string | undefined;
  /** Of each kind of the piece. */
  readonly obstacles: readonly Obstacle[];
  readonly filter: RowFilter;
};

/** The rows of each kind that pass text and domain. Adds each row that passes all but the domain to its domain. */
const countPiece = (
  piece: IndexPiece,
  { texts, part, obstacles, filter }: Wanted,
  domains: Record<string, number>,
): readonly number[] => {
  const rowsByKind = piece.kinds.map(() => 0);
  const isDomain = createDomainTest(filter);
  const replaced = new Set(piece.replaced);
  const count = (at: number): void => {
    const kind = getKindAt(piece, at);
    if (replaced.has(at) || obstacles[kind] === "several") return;
    const end = getEnd(texts, at);
    if (!isDomain || isDomain(texts.text, end)) rowsByKind[kind] = (rowsByKind[kind] ?? 0) + 1;
    if (obstacles[kind] !== "none") return;
    const domain = texts.text.slice(texts.text.lastIndexOf("@", end - 1) + 1, end);
    if (Object.hasOwn(domains, domain)) domains[domain] = (domains[domain] ?? 0) + 1;
  };
  if (part === undefined) for (let at = 0; at < piece.kindByRow.length; at++) count(at);
  else findText(texts, part, count);
  return rowsByKind;
};
