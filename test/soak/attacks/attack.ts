import { setTimeout } from "node:timers/promises";

/** What an attacker has: an address, keys of its own account, and what it runs elsewhere. */
export type Means = {
  readonly baseUrl: string;
  readonly port: number;
  readonly mailPort: number;
  readonly liveKey: string;
  readonly testKey: string;
  /** Accepts calls and never answers them. */
  readonly slowUrl: string;
  /** A company whose mail host the ordinary customers ask, too. */
  readonly company: string;
  /** Records one action and its result: the report shows that the attack took place. */
  readonly note: (what: string) => void;
};

/** One round. Ends by itself, or soon after the signal. */
export type Round = (signal: AbortSignal) => Promise<unknown>;

export type Attack = {
  readonly name: string;
  /** Null: it needs no key. */
  readonly plan: "free" | "scale" | null;
  /** Between two rounds. The attacker's work and the service's are done by the same two cores. */
  readonly pauseMs: number;
  readonly begin: (means: Means) => Round;
};

/** For so long, or until the signal. */
export const hold = async (ms: number, signal: AbortSignal): Promise<void> => {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
};

type Asking = {
  readonly key?: string;
  readonly body?: unknown;
  readonly text?: string | Uint8Array;
  readonly signal: AbortSignal;
};

/** Sends a request as any program would, and records the result. Undefined: it was refused, or there was no response. */
export const ask = async (
  { baseUrl, note }: Means,
  route: string,
  { key, body, text = body === undefined ? undefined : JSON.stringify(body), signal }: Asking,
): Promise<any> => {
  const [method = "", path = ""] = route.split(" ");
  try {
    const url = path.startsWith("http") ? path : baseUrl + path;
    const answer = await fetch(url, {
      method,
      headers: { ...(key && { "x-api-key": key }), "content-type": "application/json" },
      ...(text !== undefined && { body: text as string }),
      signal,
    });
    const body = await answer.text();
    note(String(answer.status));
    return answer.ok && body.startsWith("{") ? JSON.parse(body).data : undefined;
  } catch {
    note(signal.aborted ? "broken off" : "no answer");
    return undefined;
  }
};

/** A file is put where a link leads. */
export const upload = async (
  means: Means,
  text: string | Uint8Array,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<string | undefined> => {
  const wanted = { action: "get_upload_url", file_name: "list.csv" };
  const to = await ask(means, "POST /v1/verify/file", { key, body: wanted, signal });
  if (!to) return undefined;
  await ask(means, `PUT ${to.upload_url}`, { text, signal });
  return to.file_key;
};

/** The id of the job, or undefined. */
export const sendFile = async (
  means: Means,
  text: string | Uint8Array,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<string | undefined> => {
  const file_key = await upload(means, text, { key, signal });
  if (file_key === undefined) return undefined;
  const body = { action: "process", file_key };
  return (await ask(means, "POST /v1/verify/file", { key, body, signal }))?.job_id;
};

/** A counter for names that were never asked about. */
export const counter = (): (() => number) => {
  let count = 0;
  return () => count++;
};

export const many = <T>(count: number, of: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => of(n));
