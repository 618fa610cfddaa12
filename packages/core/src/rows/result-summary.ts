import { getDomain } from "@mailproof/mail/address";
import type { Amounts, Item, Key, Table, Update } from "../ports/table.ts";
import { STATUSES, type Status, type Verification } from "../verify/result.ts";
import { type Job, toJobKey } from "./items.ts";
import type { VerifiedRow } from "./results.ts";

// Layout. The counts of a job's results. Each pass adds its rows in the transaction that makes them count, so a row is
// counted once, whatever crashes or repeats. Statuses, bands, reasons and providers are short lists of ours, and
// acceptance fixes the domains of a job, so the size of the item is bounded.
//
//   pk          sk       what
//   JOB#<id>    SUMMARY  a number for each: status_valid, band_9, reason_…, provider_…, domain_…, typo_<domain>><meant>,
//                        refused_provider_… and refused_domain_… (rows whose mail server refused the mailbox as unknown)

export const toSummaryKey = (job: string): Key => ({ ...toJobKey(job), sk: "SUMMARY" });

/** A band of scores: 0–9, 10–19, …; the last has 100, too. */
const BAND_WIDTH = 10;
const BAND_COUNT = 10;
export const toBand = (score: number): number =>
  Math.min(BAND_COUNT - 1, Math.floor(score / BAND_WIDTH));

/** Every band, with its number. */
export const toScoreBands = (count: (band: number) => number): readonly ScoreBand[] =>
  Array.from({ length: BAND_COUNT }, (_, band) => ({
    from: band * BAND_WIDTH,
    to: band === BAND_COUNT - 1 ? 100 : (band + 1) * BAND_WIDTH - 1,
    count: count(band),
  }));

export type ScoreBand = { readonly from: number; readonly to: number; readonly count: number };
export type CountByName = Readonly<Record<string, number>>;

export type ResultSummary = {
  readonly statuses: Readonly<Record<Status, number>>;
  readonly reasons: CountByName;
  readonly scores: readonly ScoreBand[];
  readonly providers: CountByName;
  /** The most frequent first. */
  readonly topDomains: readonly { readonly domain: string; readonly count: number }[];
  /** Frequent domains that are probably slips, each with the domain that was meant. */
  readonly typos: readonly Typo[];
  /** Providers and domains whose mail servers refused every row, in a list that is mostly valid elsewhere. */
  readonly suspicions: readonly Suspicion[];
};

/** `confidence`: how certain it is that the refusals are about the mailboxes. A single refusal in clear words has 0.95. */
type Suspicion = { readonly at: string; readonly count: number; readonly confidence: number };

/** Nothing shows whether the provider refuses us or the mailboxes. */
const SUSPECTED_CONFIDENCE = 0.5;

type Typo = { readonly domain: string; readonly meant: string; readonly count: number };

const TOP_DOMAINS_MAX = 20;

type SummarizedJob = Pick<Job, "id" | "domains">;

/** The write that adds the rows of a pass to the summary of their job. */
export const buildSummaryWrites = (
  { id, domains }: SummarizedJob,
  rows: readonly VerifiedRow[],
  expiresAt: number,
): readonly Update[] =>
  rows.length > 0
    ? [
        {
          update: toSummaryKey(id),
          add: countRows(rows, new Set(domains)),
          set: { expires_at: expiresAt },
          orCreate: true,
        },
      ]
    : [];

type ReplacedRows = {
  readonly before: readonly VerifiedRow[];
  readonly after: readonly VerifiedRow[];
  /** The domains that the summary counts. */
  readonly domains: ReadonlySet<string>;
};

/** The write that moves rows from their earlier counts to the counts of their later results. */
export const buildReplacementSummary = (
  { id }: Pick<Job, "id">,
  { before, after, domains }: ReplacedRows,
): Update => {
  const change: Record<string, number> = { ...countRows(after, domains) };
  for (const [field, count] of Object.entries(countRows(before, domains)))
    change[field] = (change[field] ?? 0) - count;
  return { update: toSummaryKey(id), add: change };
};

const countRows = (rows: readonly VerifiedRow[], domains: ReadonlySet<string>): Amounts => {
  const counts: Record<string, number> = {};
  const count = (field: string): void => {
    counts[field] = (counts[field] ?? 0) + 1;
  };
  for (const { result } of rows) {
    count(`status_${result.status}`);
    count(`band_${toBand(result.score)}`);
    count(`reason_${result.reason}`);
    if (result.provider !== null) {
      count(`provider_${result.provider}`);
      if (isRefused(result)) count(`${REFUSED_PREFIX}provider_${result.provider}`);
    }
    for (const field of listDomainFields(result, (domain) => domains.has(domain))) count(field);
  }
  return counts;
};

export const REFUSED_PREFIX = "refused_";

type CountedResult = Pick<Verification, "email" | "ai" | "status" | "verification">;

/** The mail server replied that the mailbox does not exist. */
const isRefused = ({ status, verification }: CountedResult): boolean =>
  status === "invalid" && verification.smtpCheck;

/** The fields that count the row by its domain; empty when the summary does not count the domain. */
export const listDomainFields = (
  result: CountedResult,
  isCounted: (domain: string) => boolean,
): readonly string[] => {
  const { email, ai } = result;
  const domain = toDomain(email);
  if (!isCounted(domain)) return [];
  const field = toDomainField(domain);
  const meant = ai?.typoSuggestion ? toDomain(ai.typoSuggestion) : undefined;
  return [
    field,
    ...(isRefused(result) ? [`${REFUSED_PREFIX}${field}`] : []),
    ...(meant ? [`${toTypoPrefix(domain)}${meant}`] : []),
  ];
};

export const toTypoPrefix = (domain: string): string => `typo_${domain}>`;

/** The domain of an address as the summary names it. */
export const toDomain = (email: string): string => getDomain(email).toLowerCase();

const DOMAIN_PREFIX = "domain_";
export const toDomainField = (domain: string): string => `${DOMAIN_PREFIX}${domain}`;

/** Undefined for a job of a single address, or after the deletion of its results. */
export const findSummary = async (
  table: Table,
  { id, kind, processed }: Pick<Job, "id" | "kind" | "processed">,
): Promise<ResultSummary | undefined> => {
  if (kind === "single") return undefined;
  const item = await table.get(toSummaryKey(id));
  return item || processed === 0 ? readSummary(item ?? toSummaryKey(id)) : undefined;
};

const readSummary = (item: Item): ResultSummary => ({
  statuses: Object.fromEntries(
    STATUSES.map((status) => [status, Number(item[`status_${status}`] ?? 0)]),
  ) as Record<Status, number>,
  reasons: Object.fromEntries(listCounts(item, "reason_")),
  scores: toScoreBands((band) => Number(item[`band_${band}`] ?? 0)),
  providers: Object.fromEntries(listCounts(item, "provider_")),
  topDomains: listCounts(item, "domain_")
    .slice(0, TOP_DOMAINS_MAX)
    .map(([domain, count]) => ({ domain, count })),
  typos: listCounts(item, "typo_").map(([pair, count]) => {
    const [domain = "", meant = ""] = pair.split(">");
    return { domain, meant, count };
  }),
  suspicions: listSuspicions(item),
});

/** Fewer refused rows may be a coincidence. */
const SUSPICIOUS_ROWS_MIN = 10;
/** The name of all mail servers whose provider is not recognized. */
const UNRECOGNIZED = "other";

/** Only a witness distinguishes a provider that refuses us from a provider whose mailboxes are gone. */
const listSuspicions = (item: Item): readonly Suspicion[] =>
  ["provider_", "domain_"].flatMap((prefix) =>
    listCounts(item, `${REFUSED_PREFIX}${prefix}`).flatMap(([at, count]) =>
      at !== UNRECOGNIZED &&
      count >= SUSPICIOUS_ROWS_MIN &&
      count === Number(item[`${prefix}${at}`] ?? 0) &&
      isMostlyValidElsewhere(item, count)
        ? [{ at, count, confidence: SUSPECTED_CONFIDENCE }]
        : [],
    ),
  );

const isMostlyValidElsewhere = (item: Item, refused: number): boolean => {
  const rows = listCounts(item, "status_").reduce((sum, [, count]) => sum + count, 0);
  return 2 * Number(item["status_valid"] ?? 0) >= rows - refused;
};

/** Every domain that a summary counts, even when no row has the domain now. */
export const findCountedDomains = async (
  table: Table,
  job: string,
): Promise<ReadonlySet<string>> => {
  const item = await table.get(toSummaryKey(job));
  const fields = Object.keys(item ?? {}).filter((field) => field.startsWith(DOMAIN_PREFIX));
  return new Set(fields.map((field) => field.slice(DOMAIN_PREFIX.length)));
};

/** The highest count first; equal ones by name. */
const listCounts = (item: Item, prefix: string): readonly (readonly [string, number])[] =>
  Object.entries(item)
    .filter(([field, count]) => field.startsWith(prefix) && Number(count) > 0)
    .map(([field, count]) => [field.slice(prefix.length), Number(count)] as const)
    .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
