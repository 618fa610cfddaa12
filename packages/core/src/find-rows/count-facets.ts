import type { Table } from "../ports/table.ts";
import type { Job } from "../rows/items.ts";
import { toBand, toScoreBands } from "../rows/result-summary.ts";
import {
  type AddressedPiece,
  getKindAt,
  getRowAt,
  type IndexedJob,
  type RowKind,
  readSlices,
} from "../rows/row-index.ts";
import { STATUSES } from "../verify/result.ts";
import { SEND_ADVICES, toSendAdvice } from "../verify/send-advice.ts";
import {
  createAddressTest,
  createOriginTest,
  getDomainText,
  matchesKind,
  ORIGINS,
  type RowFilter,
  toOrigin,
} from "./row-filter.ts";

// Counts, for each value of a filter, its rows among those that pass the filter's other fields. So an unselected value shows
// its number, and a selected value keeps it.

type Field = keyof RowFilter;

/** The number of rows of each value, by field. The values have the form of a filter. */
export type Facets = Readonly<Record<Field, Readonly<Record<string, number>>>>;

/** The fields of a row's kind. The domain is part of the address instead. */
const KIND_FIELDS = ["send", "status", "reason", "provider", "score"] as const;

const SCORES = toScoreBands(() => 0).map(({ from, to }) => `${from}-${to}`);

const VALUES: Readonly<Partial<Record<Field, readonly string[]>>> = {
  send: SEND_ADVICES,
  status: STATUSES,
  score: SCORES,
};

const toValues = ([status, score, reason, provider]: RowKind) => ({
  send: toSendAdvice(status),
  status,
  reason,
  provider,
  score: SCORES[toBand(score)] ?? "",
});

type Obstacle = Field | "none" | "several";

const createObstacleFinder = (filter: RowFilter) => {
  const tests = KIND_FIELDS.filter((field) => filter[field]).map(
    (field) => [field, matchesKind({ [field]: filter[field] })] as const,
  );
  return (kind: RowKind): Obstacle => {
    const failed = tests.filter(([, test]) => !test(kind));
    return failed.length > 1 ? "several" : (failed[0]?.[0] ?? "none");
  };
};

export const countFacets = async (
  table: Table,
  job: IndexedJob & Pick<Job, "continues">,
  { filter, text }: { readonly filter: RowFilter; readonly text: string | undefined },
  domains: readonly string[],
  pause: () => Promise<void>,
): Promise<Facets> => {
  const counts: Record<Field, Record<string, number>> = {
    send: {},
    status: {},
    reason: {},
    provider: {},
    score: {},
    domain: Object.fromEntries(domains.map((domain) => [domain, 0])),
    origin: job.continues === undefined ? {} : Object.fromEntries(ORIGINS.map((one) => [one, 0])),
  };
  for (const [field, values = []] of Object.entries(VALUES))
    for (const value of values) counts[field as Field][value] = 0;
  const wanted: Wanted = {
    filter,
    findObstacle: createObstacleFinder(filter),
    hasText: createAddressTest({}, text),
    isDomain: createAddressTest({ ...(filter.domain && { domain: filter.domain }) }),
  };
  for await (const pieces of readSlices(table, job, { hasAddresses: true })) {
    for (const piece of pieces) countPiece(piece, wanted, counts);
    await pause();
  }
  return counts;
};

type Wanted = {
  readonly filter: RowFilter;
  readonly findObstacle: ReturnType<typeof createObstacleFinder>;
  readonly hasText: ReturnType<typeof createAddressTest>;
  readonly isDomain: ReturnType<typeof createAddressTest>;
};

const countPiece = (
  piece: AddressedPiece,
  { filter, findObstacle, hasText, isDomain }: Wanted,
  counts: Record<Field, Record<string, number>>,
): void => {
  const obstacles = piece.kinds.map(findObstacle);
  const replaced = new Set(piece.replaced);
  const rowsByKind = piece.kinds.map(() => 0);
  const addresses = piece.listAddresses();
  const isOrigin = createOriginTest(filter, piece.known);
  for (let at = 0; at < piece.kindByRow.length; at++) {
    const kind = getKindAt(piece, at);
    if (replaced.has(at) || obstacles[kind] === "several") continue;
    const address = addresses[at] ?? "";
    if (hasText?.(address) === false) continue;
    const row = getRowAt(piece, at);
    if (obstacles[kind] === "none" && isDomain?.(address) !== false)
      countKnown(counts.origin, toOrigin(piece.known, row), 1);
    if (isOrigin?.(row) === false) continue;
    if (isDomain?.(address) !== false) rowsByKind[kind] = (rowsByKind[kind] ?? 0) + 1;
    if (obstacles[kind] === "none") countKnown(counts.domain, getDomainText(address), 1);
  }
  for (const [at, kind] of piece.kinds.entries()) {
    const values = toValues(kind);
    for (const field of KIND_FIELDS) {
      const value = values[field];
      if (value === null || (obstacles[at] !== "none" && obstacles[at] !== field)) continue;
      counts[field][value] = (counts[field][value] ?? 0) + (rowsByKind[at] ?? 0);
    }
  }
};

/** Counts only values from the start: a list may have half a million domains. */
const countKnown = (counts: Record<string, number>, value: string, rows: number): void => {
  if (Object.hasOwn(counts, value)) counts[value] = (counts[value] ?? 0) + rows;
};
