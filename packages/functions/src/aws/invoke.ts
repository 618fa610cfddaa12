import type { Json } from "@mailproof/core/table";
import { Occupied } from "@mailproof/core/verify/occupied";
import { type Aws, askWhole, certain, PATIENCE_MS, persist } from "./aws.ts";

/** Calls another Lambda and waits for what it says. */
export type Invoke = (payload: Json) => Promise<Json>;

export const invokeLambda =
  (aws: Aws, name: string): Invoke =>
  async (payload) => {
    const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
    // Longer than any caller waits: an HTTP Lambda is over after 29 s.
    const asking = { method: "POST", path, body: JSON.stringify(payload) } as const;
    // Not again after a lost answer: somebody's mail server was asked, perhaps.
    const { heard } = await persist(aws, 0, () => askWhole(aws, "lambda", asking, PATIENCE_MS));
    if (heard.kind === "busy")
      throw new Occupied(`all of ${name} are at work`, { cause: heard.cause });
    const { headers, text } = certain(`calling ${name}`, heard);
    if (headers["x-amz-function-error"]) throw new Error(`${name} failed: ${text.slice(0, 300)}`);
    return JSON.parse(text) as Json;
  };
