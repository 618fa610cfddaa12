import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { LAB_ZONE } from "@mailproof/lab/lab";
import { type Chance, drawBelow, pickOne } from "../../soak/truth.ts";
import type { History, Span } from "./history.ts";

// Clients that pay, and record what they were answered. Each paid call has an Idempotency-Key, or is a search, and is
// repeated until it is answered.

export type Request = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
};

export type Reply = {
  readonly status: number;
  readonly data?: any;
  readonly error?: {
    readonly code: string;
    readonly money: string;
    readonly details?: { readonly available: number };
  };
};

/** Not sent: certainly nothing happened. Lost: the service may have done it. */
export type Ask = (apiKey: string, request: Request) => Promise<Reply | "not_sent" | "lost">;

export type Payer = { readonly account: string; readonly live: string };

export type Recording = {
  readonly history: History;
  readonly ask: Ask;
  readonly chance: Chance;
  /** The clock of the service. */
  readonly serviceNow: () => number;
};

type Client = Recording & Payer & { readonly number: number };

/** A paid request. `amount`: its price, in half-credits. */
type Paid = Request & { readonly amount: number };

const toHalves = (credits: number): number => Math.round(credits * 2);

/** So often is a request sent before the recording is given up. */
const TRIES_MAX = 1_000;
const PAUSE_MS = 20;

/** The reply with a result; undefined: the balance was too small. */
const pay = async (client: Client, paid: Paid): Promise<Reply | undefined> => {
  const { history, account, number, live } = client;
  const { amount } = paid;
  const call = history.now();
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const tried = history.now();
    const reply = await client.ask(live, paid);
    const span = [tried, history.now()] as const;
    if (typeof reply === "object" && reply.data) {
      const { credits_remaining: left } = reply.data as { readonly credits_remaining?: number };
      const balance = left === undefined ? {} : { balance: toHalves(left) };
      history.add(account, number, [call, span[1]], { kind: "charge", amount, ...balance });
      return reply;
    }
    if (typeof reply === "object" && reply.error?.code === "INSUFFICIENT_CREDITS") {
      const balance = toHalves(reply.error.details?.available ?? Number.NaN);
      history.add(account, number, span, { kind: "insufficient", amount, balance });
      return undefined;
    }
    // A search has no key, so its repeat may be another one.
    if (mayBePaid(reply) && paid.key === undefined)
      history.add(account, number, span, { kind: "may_charge", amount });
    await setTimeout(PAUSE_MS * Math.min(10, tries + 1) * client.chance());
  }
  throw new Error(`${paid.path} was never answered`);
};

/** What a failure says about the money is believed, and so held to. */
const mayBePaid = (reply: Reply | "not_sent" | "lost"): boolean => {
  if (typeof reply === "string") return reply === "lost";
  const { error, status } = reply;
  if (!error || status < 400) throw new Error(`an answer of ${status} without a result`);
  const { code, money } = error;
  return !(code === "REQUEST_IN_PROGRESS" || money === "refunded" || money.startsWith("nothing_"));
};

/** Repeats until there is an answer; it costs nothing. */
const askFree = async ({ ask, live }: Client, request: Request): Promise<Reply> => {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const reply = await ask(live, request);
    if (typeof reply === "object" && reply.status < 500 && reply.status !== 429) return reply;
    await setTimeout(PAUSE_MS);
  }
  throw new Error(`${request.path} was never answered`);
};

export const readBalance = async (client: Client): Promise<void> => {
  const { history, account, number } = client;
  const call = history.now();
  const { data } = await askFree(client, { method: "GET", path: "/v1/account" });
  const balance = toHalves(data.credits.available);
  history.add(account, number, [call, history.now()], { kind: "read", balance });
};

type Movement = {
  readonly type: string;
  readonly credits: number;
  readonly operation_id: string;
  readonly reason?: string;
  readonly created_at: string;
};

/** Of results that cost nothing. A cancelled job's own answer says what it refunds. */
const FREE_REASONS = ["not_probed", "not_reached", "failed"];

/**
 * What no answer tells, since the service did it later. An operation that a crash or a failure interrupted took credits
 * and gave them back: as no answer was paid with them, they cannot explain a wrong one.
 */
export const addFromLedger = async (
  client: Client,
  toSpan: (time: number) => Span,
): Promise<void> => {
  const movements = await readLedger(client);
  const interrupted = new Set(
    movements
      .filter(({ type, reason }) => type === "release" && reason === undefined)
      .map((one) => one.operation_id),
  );
  for (const { type, credits, operation_id: operation, reason, created_at: at } of movements) {
    const isFree = type !== "settle" && reason !== undefined && FREE_REASONS.includes(reason);
    if (!isFree && !interrupted.has(operation)) continue;
    const kind = type === "hold" ? "charge" : "refund";
    const span = toSpan(Date.parse(at));
    client.history.add(client.account, client.number, span, { kind, amount: toHalves(credits) });
  }
};

const readLedger = async (client: Client): Promise<readonly Movement[]> => {
  const movements: Movement[] = [];
  for (let offset: string | undefined = ""; offset !== undefined; ) {
    const path = `/v1/account/ledger?limit=200${offset && `&offset=${offset}`}`;
    const { data } = await askFree(client, { method: "GET", path });
    movements.push(...data.entries);
    offset = data.next_offset;
  }
  return movements;
};

let names = 0;
const newName = (): string => `n${++names}`;

/** No mail server is asked about it. */
const newGoneAddress = (): string => `${newName()}@gone.${LAB_ZONE}`;

const post = (path: string, body: object, amount: number): Paid => ({
  method: "POST",
  path,
  body,
  amount,
  key: randomUUID(),
});

/** The same request again, whose answer is there: it may change nothing. */
const repeatSometimes = async (client: Client, paid: Paid): Promise<void> => {
  const reply = await pay(client, paid);
  if (reply && client.chance() < 0.3) await askFree(client, paid);
};

const VERIFY_HALVES = 2;

const verify = (client: Client): Promise<void> => {
  const email =
    client.chance() < 0.9 ? newGoneAddress() : `ada.lovelace+${newName()}@valid.${LAB_ZONE}`;
  return repeatSometimes(client, post("/v1/verify", { email }, VERIFY_HALVES));
};

const createBatch = (emails: readonly string[]): Paid =>
  post("/v1/verify/batch", { emails }, emails.length * VERIFY_HALVES);

const batch = (client: Client): Promise<void> => {
  const emails = Array.from({ length: 1 + drawBelow(client.chance, 5) }, newGoneAddress);
  return repeatSometimes(client, createBatch(emails));
};

/** Rows that are deferred have no result when their job is cancelled. */
const cancel = async (client: Client): Promise<void> => {
  const { history, account, number, chance } = client;
  const greylisted = () => `ada.lovelace+${newName()}@greylist.${LAB_ZONE}`;
  const emails = Array.from({ length: 2 + drawBelow(chance, 4) }, (_, at) =>
    at % 2 === 0 ? greylisted() : newGoneAddress(),
  );
  const reply = await pay(client, createBatch(emails));
  if (!reply) return;
  await setTimeout(chance() * 100);
  const call = history.now();
  const path = `/v1/jobs/${reply.data.job_id}/cancel`;
  const { data } = await askFree(client, { method: "POST", path });
  if (!data) return;
  const amount = toHalves(data.credits_refunded ?? 0);
  history.add(account, number, [call, history.now()], { kind: "refund", amount });
};

const CHECK_HALVES = 20;

const check = (client: Client): Promise<void> => {
  const domain = `${pickOne(["good", "weak", "parked"], client.chance)}.senders.${LAB_ZONE}`;
  return repeatSometimes(
    client,
    post("/v1/deliverability/check", { domain, refresh: true }, CHECK_HALVES),
  );
};

const FIND_HALVES = 10;
const FIND_BUCKET_MS = 120_000;

const find = async (client: Client): Promise<void> => {
  const { history, account, number, chance, serviceNow } = client;
  const letters = () =>
    Array.from({ length: 8 }, () => String.fromCharCode(97 + drawBelow(chance, 26))).join("");
  const body = { first_name: letters(), last_name: letters(), domain: `gone.${LAB_ZONE}` };
  const request = { method: "POST", path: "/v1/find", body } as const;
  const bucket = () => Math.floor(serviceNow() / FIND_BUCKET_MS);
  const began = bucket();
  const reply = await pay(client, { ...request, amount: FIND_HALVES });
  if (!reply || bucket() !== began || chance() < 0.5) return;
  const call = history.now();
  await client.ask(client.live, request);
  // The clock may have left the bucket while the repeat was under way, and then it is another search.
  const amount = FIND_HALVES;
  if (bucket() !== began)
    history.add(account, number, [call, history.now()], { kind: "may_charge", amount });
};

/** By how many of a hundred it is drawn. */
const OPERATIONS = [
  [28, readBalance],
  [36, verify],
  [12, batch],
  [8, cancel],
  [3, check],
  [13, find],
] as const;

const drawOperation = (chance: Chance) => {
  let left = drawBelow(chance, 100);
  return OPERATIONS.find(([share]) => (left -= share) < 0)?.[1] ?? readBalance;
};

/** Works until the history is long enough. */
export const runClient = async (client: Client, isOver: () => boolean): Promise<void> => {
  while (!isOver()) await drawOperation(client.chance)(client);
};
