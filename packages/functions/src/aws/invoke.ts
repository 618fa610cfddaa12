import type { Json } from "@mailproof/core/table";
import { type Aws, askWhole, certain, DELAYS_MS, PATIENCE_MS, persist } from "./aws.ts";

/** Calls another Lambda and waits for what it says. */
export type Invoke = (payload: Json) => Promise<Json>;

/**
 * While all of them are at work: half a second at a time on average, and together for longer than any caller waits.
 * Whose time is over goes on as a job; told sooner that there is no place, his request would have failed.
 */
export const WAITS_MS: readonly number[] = [...DELAYS_MS, ...Array<number>(60).fill(1_000)];

export const invokeLambda =
  (aws: Aws, name: string): Invoke =>
  async (payload) => {
    const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
    // Longer than any caller waits: an HTTP Lambda is over after 29 s.
    const asking = { method: "POST", path, body: JSON.stringify(payload) } as const;
    const call = () => askWhole(aws, "lambda", asking, PATIENCE_MS);
    // Not again after a lost answer: somebody's mail server was asked, perhaps.
    const { heard } = await persist(aws, 0, call, WAITS_MS);
    const { headers, text } = certain(`calling ${name}`, heard);
    if (headers["x-amz-function-error"]) throw new Error(`${name} failed: ${text.slice(0, 300)}`);
    return JSON.parse(text) as Json;
  };
