import { send, type Told } from "../send.ts";
import type { Process } from "./process.ts";

/** What somebody wants verified. With a key, whoever sends the same key wants the same thing once. */
export type Wish = { readonly email: string; readonly key: string | null; readonly waitMs: number };

/** One try, and what was heard of it. */
export type Heard = Told | "lost";

/** Everything that was heard of one wish, in order. */
export type Told1 = { readonly wish: Wish; readonly heard: readonly Heard[] };

export type Client = {
  readonly apiKey: string;
  readonly startProcess: () => Process;
  readonly sleep: (ms: number) => Promise<void>;
};

const TRIES_MAX = 12;

/** A client that does what the messages say: it tries again where that is safe, and nowhere else. */
export const wish = async (client: Client, wanted: Wish): Promise<Told1> => {
  const heard: Heard[] = [];
  while (heard.length < TRIES_MAX) {
    const answer = await ask(client, wanted);
    heard.push(answer);
    const waitMs = waitBefore(answer, wanted);
    if (waitMs === undefined) break;
    await client.sleep(waitMs);
  }
  return { wish: wanted, heard };
};

const ask = async ({ apiKey, startProcess }: Client, wanted: Wish): Promise<Heard> => {
  const { world, crashed } = startProcess();
  const answer = send(world, "POST /v1/verify", {
    key: apiKey,
    ...(wanted.key !== null && { headers: { "idempotency-key": wanted.key } }),
    body: { email: wanted.email, options: { timeout_ms: wanted.waitMs } },
  });
  const first = await Promise.race([answer, crashed]);
  return first === "crashed" ? "lost" : first;
};

const IMPATIENCE_MS = 2_000;

/** Undefined: it is over, or a repeat might be charged again. */
const waitBefore = (answer: Heard, { key }: Wish): number | undefined => {
  if (answer === "lost") return key === null ? undefined : IMPATIENCE_MS;
  if (answer.statusCode === 200) return undefined;
  const { message, retryable } = answer.error as { message: string; retryable?: boolean };
  const seconds = Number(answer.headers["retry-after"] ?? 1);
  if (message.includes("same Idempotency-Key; it will")) return seconds * 1000;
  // Nothing was charged and it may work later: anybody may ask again.
  return retryable && message.includes("Nothing was charged.") ? seconds * 1000 : undefined;
};
