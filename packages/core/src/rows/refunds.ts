import type { Halves } from "../money/credits.ts";
import { createEndEntry, type LedgerEntry, type OperationOrigin } from "../money/items.ts";
import { move, moveAll } from "../money/ledger.ts";
import type { KeyMode } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import type { PaidOperation } from "../money/reasons.ts";
import type { Amounts, Item, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { findOwnCause, type UnpaidResult } from "../verify/unpaid-results.ts";

// The causes for which rows of a job cost nothing. Each cause is one line here: its counter, and the entry of the ledger that returns its
// credits when the job ends.

type RefundRule = {
  /** The counter in the item of a job, named by release 0.2.0. */
  readonly stored: string;
  /** Absent when the write that counts the rows also refunds them. */
  readonly atEnd?: Pick<LedgerEntry, "step" | "reason">;
};

const BY_CAUSE = {
  /** The queue never took the rows, their input was lost, or no attempt at the one address of the job ended. */
  no_result: { stored: "refunded" },
  /** The rows had no result when the job was cancelled. */
  cancelled: { stored: "cancelled" },
  /** The rows failed on our side. */
  failed: { stored: "lost" },
  /** Our limits or rules forbade the question to the mail server. */
  not_probed: { stored: "unasked", atEnd: { step: "unasked", reason: "not_probed" } },
  /** Our network did not reach the mail server. In a batch these include its failed rows, whose credits no other step returns. */
  not_reached: { stored: "unreached", atEnd: { step: "unreached", reason: "not_reached" } },
} as const satisfies Readonly<Record<string, RefundRule>>;

export type RefundCause = keyof typeof BY_CAUSE;
export type Refunds = Readonly<Record<RefundCause, number>>;

const CAUSES = Object.keys(BY_CAUSE) as readonly RefundCause[];

export const NO_REFUNDS = Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Refunds;

export const readRefunds = (item: Item): Refunds =>
  Object.fromEntries(
    CAUSES.map((cause) => [cause, Number(item[BY_CAUSE[cause].stored] ?? 0)]),
  ) as Refunds;

/** The counters of the causes in the item of a job. */
export const toRefundFields = (refunds: Partial<Refunds>): Amounts =>
  Object.fromEntries(
    Object.entries(refunds).map(([cause, rows]) => [BY_CAUSE[cause as RefundCause].stored, rows]),
  );

export const JOB_KINDS = ["single", "batch", "file"] as const;
type JobKind = (typeof JOB_KINDS)[number];

/** The fields of a job that its refunds depend on. */
type RefundedJob = {
  readonly kind: JobKind;
  readonly mode: KeyMode;
  readonly refunds: Refunds;
};
type PaidJob = RefundedJob & {
  readonly id: string;
  readonly account: string;
  readonly createdAt: string;
  /** The operation that the job's credits pay for. */
  readonly reason: PaidOperation;
  readonly held: Halves;
  readonly shard: number;
  readonly countedIn?: OperationOrigin["countedIn"];
};

/** The rows of a pass that cost nothing. */
export const countRefunds = (
  { kind }: Pick<RefundedJob, "kind">,
  rows: readonly { readonly result: UnpaidResult }[],
): Pick<Refunds, "failed" | "not_probed" | "not_reached"> => {
  const counts = { failed: 0, not_probed: 0, not_reached: 0 };
  for (const { result } of rows) {
    const cause = findOwnCause(result)?.as;
    if (cause) counts[cause]++;
  }
  return kind === "batch" ? { ...counts, not_reached: counts.not_reached + counts.failed } : counts;
};

const PRICE_BY_KIND: Readonly<Record<JobKind, Halves>> = {
  single: PRICES.verify,
  batch: PRICES.batchAddress,
  file: PRICES.fileAddress,
};

export const getRowsPrice = ({ kind }: Pick<RefundedJob, "kind">, rows: number): Halves =>
  (rows * PRICE_BY_KIND[kind]) as Halves;

/** The price of the rows whose credits return when the job ends. */
export const getPriceAtEnd = (job: RefundedJob): Halves =>
  sumPrice(job, (cause) => "atEnd" in BY_CAUSE[cause]);

/** The sum of all refunds of an accepted job. */
export const getRefundedPrice = (job: RefundedJob): Halves =>
  sumPrice(job, (cause) => cause !== "failed" || job.kind !== "batch");

const sumPrice = (job: RefundedJob, isCounted: (cause: RefundCause) => boolean): Halves => {
  const rows = CAUSES.filter(isCounted).reduce((sum, cause) => sum + job.refunds[cause], 0);
  return job.mode === "live" ? getRowsPrice(job, rows) : (0 as Halves);
};

/** Part of the write that ends the job, so it happens once. By then the price of every row of a list is settled. */
export const buildMoneyAtEnd = (
  world: Pick<World, "now" | "newId">,
  job: PaidJob,
): readonly Write[] => {
  if (job.mode !== "live") return [];
  if (job.kind === "single") return move(createHoldEnd(world, job), job.shard);
  const entries = CAUSES.flatMap((cause) => {
    const { atEnd }: RefundRule = BY_CAUSE[cause];
    const rows = job.refunds[cause];
    return atEnd && rows > 0 ? [createRefundEntry(world, job, atEnd, rows)] : [];
  });
  return moveAll(entries, job.shard);
};

/** Ends the hold of a pending verification: the account pays the price, or gets it back when the row costs nothing. */
const createHoldEnd = ({ now, newId }: Pick<World, "now" | "newId">, job: PaidJob): LedgerEntry => {
  const { id, account, createdAt, held, reason, countedIn } = job;
  const cause = CAUSES.find((one) => job.refunds[one] > 0);
  const { atEnd }: Partial<RefundRule> = cause ? BY_CAUSE[cause] : {};
  return createEndEntry(
    { operation: id, account, openedAt: createdAt, countedIn },
    {
      at: now(),
      token: newId("txn"),
      moved: cause ? { release: held } : { settle: held },
      reason: atEnd?.reason ?? reason,
      paidFor: reason,
    },
  );
};

/** Refunds the credits of a job's rows. */
export const createRefundEntry = (
  { now }: Pick<World, "now">,
  job: PaidJob,
  { step, reason }: Pick<LedgerEntry, "step" | "reason">,
  rows: number,
): LedgerEntry => ({
  account: job.account,
  operation: job.id,
  openedAt: job.createdAt,
  step,
  at: now().toISOString(),
  moved: { refund: getRowsPrice(job, rows) },
  reason,
  paidFor: job.reason,
  countedIn: job.countedIn,
});
