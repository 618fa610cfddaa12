import { createBudget } from "../lib/budget.ts";
import { Failure } from "../lib/failure.ts";
import { createAccountSlots } from "./account-slots.ts";

// Reads of whole lists cost bytes and processor time that nobody pays for. All of a process share one budget of each, in which
// an account has a share, and equal reads that wait are done once.

type ListRead = {
  readonly account: string;
  /** Names all that decides the result. */
  readonly name: string;
  /** Rows that it looks at: two million take about a second of processor time. */
  readonly rows: number;
  /** The most bytes that it holds at a time. */
  readonly bytes: number;
};

export type ListReads = {
  /** Runs the read in its turn, or throws the refusal of an account that has used up its rows. */
  readonly run: <T>(read: ListRead, work: () => Promise<T>) => Promise<T>;
};

const BYTES = { perShare: 50_000_000, inAll: 100_000_000 };
/** In a minute: an account uses at most about half of the processor. */
const ROWS = { perShare: 60_000_000, inAll: 120_000_000, refillMs: 60_000 };
const RETRY_AFTER_MS = 5_000;

export const createListReads = (now: () => Date): ListReads => {
  const slots = createAccountSlots(BYTES);
  const { take } = createBudget(ROWS, now);
  const waiting = new Map<string, Promise<unknown>>();
  const run = <T>({ account, name, rows, bytes }: ListRead, work: () => Promise<T>): Promise<T> => {
    const key = `${account} ${name}`;
    // One that has begun may have passed rows that were written since.
    const equal = waiting.get(key);
    if (equal) return equal as Promise<T>;
    if (!take(account, rows)) throw createTooManyRowsFailure();
    const begin = (): Promise<T> => {
      waiting.delete(key);
      return work();
    };
    const read = slots.run(account, begin, bytes);
    waiting.set(key, read);
    return read;
  };
  // Asynchronous, so that a refusal is a rejection.
  return { run: async (read, work) => run(read, work) };
};

const createTooManyRowsFailure = (): Failure =>
  new Failure(
    "RATE_LIMITED",
    "nothing_charged",
    `Too many rows of lists were read; at most ${ROWS.perShare} a minute.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
