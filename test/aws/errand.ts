import { toSharedJson } from "../app/release.ts";
import type { TestResponse } from "../app/send.ts";
import type { Fleet } from "./fleet.ts";

// What customers do, step by step; between two steps others do theirs, and workers work. Each says in the end what it cost, in
// credits, by the price list alone.

export type Errand = (fleet: Fleet, name: string) => AsyncGenerator<void, number>;

class Unexpected extends Error {}

export const expectStatus = (
  response: TestResponse,
  ...statuses: readonly number[]
): TestResponse => {
  if (statuses.includes(response.statusCode)) return response;
  throw new Unexpected(`${response.statusCode} ${response.text.slice(0, 500)}`);
};

export const expectSame = (one: unknown, other: unknown): void => {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  if (first !== second) throw new Unexpected(`${first} and then ${second}`);
};

/** Two answers to one request, whichever release gave each. */
export const expectSameAnswer = (one: TestResponse, other: TestResponse): void =>
  expectSame(toSharedJson(withoutCharge(one)), toSharedJson(withoutCharge(other)));

export const once = (key: string) => ({ headers: { "idempotency-key": key } });

/** What a repeat may not change. */
const withoutCharge = ({ data }: TestResponse): object => {
  const ofCharge = ["credits_used", "credits_remaining", "idempotent_replay", "message"];
  return Object.fromEntries(Object.entries(data).filter(([name]) => !ofCharge.includes(name)));
};

/** The same request under the same key, to whichever release: one answer, charged once. */
export async function* repeat(
  { ask }: Fleet,
  what: string,
  sent: { readonly body: unknown; readonly headers: Readonly<Record<string, string>> },
  status: number,
): AsyncGenerator<void, TestResponse> {
  const first = expectStatus(await ask(what, sent), status);
  for (let times = 0; times < 2; times++) {
    yield;
    const again = expectStatus(await ask(what, sent), status);
    if (again.data.credits_used !== 0) throw new Unexpected(`${what} was charged again`);
    // A pending one has a result meanwhile.
    if (first.data.status !== "pending") expectSameAnswer(first, again);
  }
  return first;
}

export async function* waitForJob({ ask }: Fleet, id: string): AsyncGenerator<void, any> {
  for (;;) {
    const { data } = expectStatus(await ask(`GET /v1/jobs/${id}`), 200);
    if (data.status === "completed") return data;
    yield;
  }
}
