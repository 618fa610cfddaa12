import type { World } from "../ports/world.ts";
import { SOLE_REQUESTER } from "../smtp-pool/fairness.ts";
import type { WithEngine } from "./engine.ts";
import type { Verification } from "./result.ts";
import { type VerifyOptions, verify } from "./verify.ts";

/** The number of addresses under way at once. It bounds the memory; sessions get their recipients from these addresses. */
const WINDOW = 5_000;

let lists = 0;

/**
 * Verifies any number of addresses and yields the results in the order of the input. Addresses of one mail server share
 * sessions, and equal addresses under way share one verification. It yields a result as soon as this and all earlier results
 * are complete, even before the input has ended.
 */
export async function* verifyMany(
  world: WithEngine & Pick<World, "sleep">,
  texts: AsyncIterable<string> | Iterable<string>,
  options: VerifyOptions,
): AsyncGenerator<Verification> {
  const source = toAsyncIterator(texts);
  const inFlight: Promise<Verification>[] = [];
  const requester = options.requester ?? { ...SOLE_REQUESTER, job: `list ${++lists}` };
  const begin = shareInFlight((text) => verifyPatiently(world, text, { ...options, requester }));
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
    // Not awaited: a stuck input must not delay a caller that stops early.
    source.return?.().catch(() => undefined);
  }
}

/** A list without a job has no later attempt, so its process waits for a slot and for the end of a backoff. */
const verifyPatiently = async (
  { engine, sleep }: WithEngine & Pick<World, "sleep">,
  text: string,
  options: VerifyOptions,
): Promise<Verification> => {
  for (let asked = options; ; ) {
    const result = await verify(engine, text, asked);
    const { comeBack } = result;
    if (!comeBack) return result;
    await sleep(Math.max(0, Date.parse(comeBack.at) - engine.now().getTime()));
    asked = { ...options, ticket: comeBack.ticket };
  }
};

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

/** Pulls the next address. If the input fails, the failure surfaces at its turn; until then no code may listen for it. */
const pullNext = (source: AsyncIterator<string>): Promise<IteratorResult<string>> => {
  const next = source.next();
  next.catch(() => undefined);
  return next;
};

/** Waits for the next address or the first result. The address wins a tie, so that sessions fill. */
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
    // The reader of this result reports its failure, but may not wait for it yet.
    one.catch(() => undefined);
    running.set(text, one);
    return one;
  };
};
