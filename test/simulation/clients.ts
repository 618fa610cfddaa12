import { send, type Told } from "../send.ts";
import type { Process } from "./process.ts";

/**
 * What somebody wants done. With a key, whoever sends the same key wants the same thing once. A search is its own key: the
 * first name that is looked for.
 */
export type Wish = { readonly key: string | null } & (
  | ({ readonly kind: "verify"; readonly email: string; readonly waitMs: number } & Depth)
  | ({
      readonly kind: "batch" | "file";
      readonly emails: readonly string[];
      /** Left out: the default. */
      readonly maxWaitMinutes?: number;
    } & Depth)
  | { readonly kind: "check"; readonly domain: string; readonly refresh: boolean }
  | { readonly kind: "find" }
);

/** `isShallow`: no mail server is to be asked. */
type Depth = { readonly isShallow?: boolean };

/** The same key for something else is another request. */
export const requestOf = (wish: Wish): string => JSON.stringify(wish);

/** One try, and what was heard of it. */
export type Heard = Told | "lost";

/** Everything that was heard of one wish, in order. */
export type Told1 = { readonly wish: Wish; readonly heard: readonly Heard[] };

export type Client = {
  readonly apiKey: string;
  readonly startProcess: () => Process;
  readonly sleep: (ms: number) => Promise<void>;
  /** Puts a file, always the same one under the same key, and says which key that is. */
  readonly upload: (emails: readonly string[]) => Promise<string>;
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

const ask = async (client: Client, wanted: Wish): Promise<Heard> => {
  const { world, crashed } = client.startProcess();
  const [route, body] = await sentFor(client, wanted);
  const answer = send(world, route, {
    key: client.apiKey,
    ...(wanted.key !== null && { headers: { "idempotency-key": wanted.key } }),
    body,
  });
  const first = await Promise.race([answer, crashed]);
  return first === "crashed" ? "lost" : first;
};

const sentFor = async ({ upload }: Client, wanted: Wish): Promise<[string, unknown]> => {
  switch (wanted.kind) {
    case "verify":
      return [
        "POST /v1/verify",
        { email: wanted.email, options: { timeout_ms: wanted.waitMs, ...depthOf(wanted) } },
      ];
    case "check":
      return ["POST /v1/deliverability/check", { domain: wanted.domain, refresh: wanted.refresh }];
    case "find":
      return ["POST /v1/find", { first_name: wanted.key, last_name: "Lee", domain: "example.com" }];
    case "batch":
      return ["POST /v1/verify/batch", { emails: wanted.emails, options: optionsOf(wanted) }];
    case "file": {
      const file_key = await upload(wanted.emails);
      return ["POST /v1/verify/file", { action: "process", file_key, options: optionsOf(wanted) }];
    }
  }
};

type JobOptions = Depth & { readonly maxWaitMinutes?: number };

const optionsOf = ({ maxWaitMinutes: minutes, ...depth }: JobOptions) => ({
  ...depthOf(depth),
  ...(minutes !== undefined && { max_wait_minutes: minutes }),
});

const depthOf = ({ isShallow = false }: Depth) => ({ deep_verify: !isShallow });

const IMPATIENCE_MS = 2_000;

/** Undefined: it is over, or a repeat might be charged again. */
const waitBefore = (answer: Heard, { key }: Wish): number | undefined => {
  if (answer === "lost") return key === null ? undefined : IMPATIENCE_MS;
  if (answer.statusCode < 300) return undefined;
  const { message, retryable } = answer.error as { message: string; retryable?: boolean };
  const seconds = Number(answer.headers["retry-after"] ?? 1);
  if (/same (?:Idempotency-Key; it|search sent again) .*will not/.test(message))
    return seconds * 1000;
  // Nothing was charged and it may work later: anybody may ask again.
  return retryable && message.includes("Nothing was charged.") ? seconds * 1000 : undefined;
};
