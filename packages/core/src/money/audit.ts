import type { Table } from "../ports/table.ts";
import {
  type AccountAudit,
  type AuditedAccount,
  type AuditReader,
  listBroken,
  takeSnapshot,
} from "./audit-snapshot.ts";
import {
  type Closing,
  type Closings,
  isSame,
  type MonthSum,
  mayClose,
  readClosings,
  writeClosing,
} from "./closings.ts";

export type Violation = { readonly account_id: string; readonly law: string };
/** Entries written to a month after its closing that agree with the balance: a wrong clock wrote them. */
export type LateEntries = {
  readonly account_id: string;
  readonly month: string;
  readonly entries: number;
};

export type AuditOptions = {
  readonly isFull?: boolean;
};

/**
 * Creates the audit. It sums the entries of every account and compares the sums with the balance, the readers' reports and the
 * operations. It closes ended months; later audits take their sums from the closings, and read the entries again only if the
 * balance does not agree.
 */
export const createAudit =
  (
    iterateAccounts: (table: Table) => AsyncIterable<AuditedAccount>,
    readers: readonly AuditReader[],
  ) =>
  async (table: Table, now: Date, { isFull = false }: AuditOptions = {}) => {
    const violations: Violation[] = [];
    const late: LateEntries[] = [];
    let accounts = 0;
    for await (const account of iterateAccounts(table)) {
      accounts++;
      const account_id = account.account;
      const found = await auditAccount({ table, account, readers, now }, isFull);
      violations.push(...found.broken.map((invariant) => ({ account_id, law: invariant })));
      late.push(...found.late.map((one) => ({ account_id, ...one })));
    }
    return { ok: violations.length === 0, accounts, violations, late };
  };

type Findings = {
  readonly broken: readonly string[];
  readonly late: readonly Omit<LateEntries, "account_id">[];
};

const NO_CLOSINGS: Closings = new Map();

const auditAccount = async (audit: AccountAudit, isFull: boolean): Promise<Findings> => {
  const byClosings = isFull ? undefined : await auditWith(audit, (stored) => stored);
  if (byClosings?.broken.length === 0) {
    await closeMonths(audit, byClosings);
    return NOTHING_FOUND;
  }
  // Without closings, the first attempt already read every entry.
  const isRead = byClosings !== undefined && byClosings.stored.size === 0;
  const byEntries = isRead ? byClosings : await auditWith(audit, () => NO_CLOSINGS);
  const agrees = byEntries.broken.length === 0;
  const compared = byEntries.months.map((sum) =>
    compareToClosing(sum, byEntries.stored.get(sum.month), agrees),
  );
  const broken = [...byEntries.broken, ...compared.flatMap((one) => one.broken)];
  if (broken.length === 0) await closeMonths(audit, byEntries);
  return { broken, late: compared.flatMap((one) => one.late) };
};

/** Credits may move during the audit. A real violation persists until the next attempt. */
const ATTEMPTS_MAX = 3;

/** `stored`: the closings at the last attempt. `months`: the months whose entries the attempt read. */
type Attempt = {
  readonly broken: readonly string[];
  readonly stored: Closings;
  readonly months: readonly MonthSum[];
};

const auditWith = async (
  audit: AccountAudit,
  chooseTrusted: (stored: Closings) => Closings,
): Promise<Attempt> => {
  let result: Attempt = { broken: [], stored: NO_CLOSINGS, months: [] };
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const stored = await readClosings(audit.table, audit.account.account, audit.now);
    const snapshot = await takeSnapshot(audit, stored, chooseTrusted(stored));
    result = { broken: listBroken(snapshot), stored, months: snapshot?.months ?? [] };
    if (result.broken.length === 0) break;
  }
  return result;
};

const NOTHING_FOUND: Findings = { broken: [], late: [] };

/**
 * Additional entries that agree with the balance are late entries. Any other difference means that a stored entry or a closing
 * was changed.
 */
const compareToClosing = (
  sum: MonthSum,
  closing: Closing | undefined,
  agrees: boolean,
): Findings => {
  if (!closing?.isProved || isSame(sum, closing)) return NOTHING_FOUND;
  const entries = sum.entries - closing.entries;
  return agrees && entries > 0
    ? { broken: [], late: [{ month: sum.month, entries }] }
    : { broken: [`the entries of ${sum.month} are those that it was closed with`], late: [] };
};

/** The balance agreed, so the new sums are proved, and late entries become part of a new closing. */
const closeMonths = async (
  { table, account: { account }, now }: AccountAudit,
  { stored: closings, months }: Attempt,
): Promise<void> => {
  const summed = new Set(months.map(({ month }) => month));
  for (const sum of months) {
    const closing = closings.get(sum.month);
    const isStored = closing?.isProved && isSame(sum, closing);
    if (!isStored && mayClose(sum, now)) await writeClosing(table, account, sum, true);
  }
  for (const closing of closings.values())
    if (!closing.isProved && !summed.has(closing.month))
      await writeClosing(table, account, closing, true);
};
