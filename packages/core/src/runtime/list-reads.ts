import { createBudget } from "../lib/budget.ts";
import { Failure } from "../lib/failure.ts";
import { createAccountSlots } from "./account-slots.ts";

// Reading a whole list costs bytes and processor time that no account pays for. All reads of a process share one budget of
// each, with a share per account, and equal waiting reads run once.

type ListRead = {
  readonly account: string;
  /** The name contains everything that decides the result. */
  readonly name: string;
  /** The number of rows that the read examines: two million take about a second of processor time. */
  readonly rows: number;
  readonly bytes: number;
};

export type ListReads = {
  /** Runs the read in its turn; throws when the account has used up its rows. */
  readonly run: <T>(read: ListRead, work: () => Promise<T>) => Promise<T>;
};

const BYTES = { perShare: 50_000_000, inAll: 100_000_000 };
/** The limits per minute let one account use at most about half of the processor. */
const ROWS = { perShare: 60_000_000, inAll: 120_000_000, refillMs: 60_000 };
const RETRY_AFTER_MS = 5_000;

export const createListReads = (now: () => Date): ListReads => {
  const slots = createAccountSlots(BYTES);
  const { take } = createBudget(ROWS, now);
  const waiting = new Map<string, Promise<unknown>>();
  const run = <T>({ account, name, rows, bytes }: ListRead, work: () => Promise<T>): Promise<T> => {
    const key = `${account} ${name}`;
    // Requests share only a waiting read: a running read may already have passed rows that workers wrote later.
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
  // An async function turns a thrown refusal into a rejection.
  return { run: async (read, work) => run(read, work) };
};

const createTooManyRowsFailure = (): Failure =>
  new Failure(
    "RATE_LIMITED",
    "nothing_charged",
    `Too many rows of lists were read; at most ${ROWS.perShare} a minute.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
