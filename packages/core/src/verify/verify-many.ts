import type { Engine } from "./engine.ts";
import type { Verification } from "./result.ts";
import { type Options, verify } from "./verify.ts";

/** So many are under way at once. It bounds the memory, and is what sessions are filled from. */
const WINDOW = 5_000;

/**
 * Any number of addresses, in the order they come in. Those for one mail server share sessions, those of one
 * domain its facts. A result is handed on as soon as it and all before it are there.
 */
export async function* verifyMany(
  engine: Engine,
  texts: AsyncIterable<string> | Iterable<string>,
  options: Options,
): AsyncGenerator<Verification> {
  const underWay: Promise<Verification>[] = [];
  for await (const text of texts) {
    underWay.push(verify(engine, text, options));
    const first = underWay.length >= WINDOW ? underWay.shift() : undefined;
    if (first) yield await first;
  }
  for (const one of underWay) yield await one;
}
