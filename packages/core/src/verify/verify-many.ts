import type { Engine } from "./engine.ts";
import type { Verification } from "./result.ts";
import { type VerifyOptions, verify } from "./verify.ts";

/** So many are under way at once. It bounds the memory, and is what sessions are filled from. */
const WINDOW = 5_000;

/**
 * Any number of addresses, in the order they come in. Those for one mail server share sessions, and one that is
 * under way already is not asked about twice. A result is handed on as soon as it and all before it are there,
 * also while the input has not ended.
 */
export async function* verifyMany(
  engine: Engine,
  texts: AsyncIterable<string> | Iterable<string>,
  options: VerifyOptions,
): AsyncGenerator<Verification> {
  const source = toAsyncIterator(texts);
  const inFlight: Promise<Verification>[] = [];
  const begin = shareInFlight((text) => verify(engine, text, options));
  try {
    let next: Promise<IteratorResult<string>> | null = pullNext(source);
    while (next !== null || inFlight.length > 0) {
      const [first] = inFlight;
      const isFull = inFlight.length >= WINDOW;
      const arrived = await raceNext(isFull ? null : next, first);
      if (arrived === "first") {
        const result = await inFlight.shift();
        if (result) yield result;
      } else if (arrived.done) next = null;
      else {
        inFlight.push(begin(arrived.value));
        next = pullNext(source);
      }
    }
  } finally {
    // Not waited for: an input that is stuck would hold whoever has had enough of it.
    source.return?.().catch(() => undefined);
  }
}

const toAsyncIterator = (
  texts: AsyncIterable<string> | Iterable<string>,
): AsyncIterator<string> => {
  if (Symbol.asyncIterator in texts) return texts[Symbol.asyncIterator]();
  const iterator = texts[Symbol.iterator]();
  return {
    next: async () => iterator.next(),
    return: async () => iterator.return?.() ?? { done: true, value: undefined },
  };
};

/** The next of the input. That it failed is told when its turn comes, and until then nobody may be listening. */
const pullNext = (source: AsyncIterator<string>): Promise<IteratorResult<string>> => {
  const next = source.next();
  next.catch(() => undefined);
  return next;
};

/** What comes first: the next address, or the first result. The address wins a tie, so that sessions fill. */
const raceNext = (
  next: Promise<IteratorResult<string>> | null,
  first: Promise<Verification> | undefined,
): Promise<IteratorResult<string> | "first"> => {
  const waited = [...(next ? [next] : []), ...(first ? [first.then(() => "first" as const)] : [])];
  return Promise.race(waited);
};

const shareInFlight = (start: (text: string) => Promise<Verification>) => {
  const running = new Map<string, Promise<Verification>>();
  return (text: string): Promise<Verification> => {
    const same = running.get(text);
    if (same) return same;
    const one = start(text).finally(() => running.delete(text));
    // Its failure is told by whoever waits for it; nobody may be waiting yet.
    one.catch(() => undefined);
    running.set(text, one);
    return one;
  };
};
