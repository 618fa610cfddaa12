import { PLANS } from "@mailproof/core/accounts/plans";
import type { RateLimitResult } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { Failure, type MoneyOutcome } from "@mailproof/core/lib/failure";
import { assertMay, authenticate, type Headers } from "./authenticate.ts";
import { getBodyBytesMax } from "./body.ts";
import type { Caller, Endpoint, Streamed } from "./endpoint.ts";
import { withFirstPiece } from "./first-chunk.ts";
import { readForm } from "./form.ts";
import { isForm } from "./form-headers.ts";
import { getFailureHeaders, getFailureMessage, getStatus } from "./http-failure.ts";
import { adjustForRepeat, readIdempotencyKey } from "./idempotency.ts";
import { findLimited, rememberLimited } from "./limited-callers.ts";
import { parse } from "./parse.ts";

export type HttpRequest = {
  readonly id: string;
  readonly headers: Headers;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Reads a body of at most so many bytes as JSON; undefined when nothing was sent. Called once the caller is known. */
  readonly body: (bytesMax: number) => Promise<unknown>;
  /** The body as it comes, for a form. One of the two is asked for, and once. */
  readonly bytes: () => AsyncIterable<Uint8Array>;
  /**
   * Counts a streamed response as a download of this account until the returned function is called, or refuses it.
   * Absent where each response has a process of its own.
   */
  readonly acquireDownload?: (account: string) => () => void;
};

export type HttpAnswer<Body = string | Streamed> = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
};

/** The whole life of a request, in order. There is no other path through the service. */
export const respond = async (
  world: AppWorld,
  endpoint: Endpoint,
  request: HttpRequest,
): Promise<HttpAnswer> => {
  const headers: Record<string, string> = {};
  let isAdmitted = false;
  try {
    assertSound(world, endpoint);
    const caller = await admit(world, endpoint, request, headers);
    isAdmitted = true;
    const key = readIdempotencyKey(endpoint, request.headers);
    const form = openForm(endpoint, request);
    const body = form
      ? undefined
      : endpoint.body && (await request.body(getBodyBytesMax(endpoint)));
    const input = parse(endpoint, { ...request, body, form });
    const response = await endpoint.handle(world, caller, { ...input, key });
    const all = { ...headers, ...response.headers };
    if ("stream" in response) {
      const { stream, elsewhere } = response;
      // Nothing of the stream was read, so there is nothing to close where this is refused.
      const release = request.acquireDownload?.(caller.account);
      return answer(request.id, response.status, all, {
        stream: await withFirstPiece(stream, release),
        elsewhere,
      });
    }
    const { status, data } = response;
    const payload = endpoint.enveloped === false ? data : { success: true, data };
    return answer(request.id, status, all, JSON.stringify(payload));
  } catch (error) {
    const failure = asFailure(error, moneyAfterBug(endpoint));
    const response = adjustForRepeat(failure, endpoint, request.headers, isAdmitted);
    return refuse(world, request.id, response, headers);
  }
};

/** Every failure leaves through here, so every failure says what happened to the money. */
export const refuse = (
  world: Pick<AppWorld, "log">,
  requestId: string,
  failure: Failure,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer<string> => {
  const { code, money, details, retryable } = failure;
  const status = getStatus(failure);
  if (status >= 500 && !failure.isExpected)
    world.log("failure", { requestId, code, cause: failure.cause ?? failure });
  const error = {
    code,
    message: getFailureMessage(failure),
    // The last sentence of the message, for programs.
    money,
    ...(details !== undefined && { details }),
    ...(retryable && { retryable }),
  };
  return answer(
    requestId,
    status,
    { ...headers, ...getFailureHeaders(failure) },
    JSON.stringify({ success: false, error, request_id: requestId }),
  );
};

/** What was thrown, if it was meant for the caller; else a bug: opaque outside, whole in the log. */
export const asFailure = (error: unknown, money: MoneyOutcome): Failure =>
  error instanceof Failure
    ? error
    : new Failure("INTERNAL", money, "Something broke on our side.", { cause: error });

/** A route without a price cannot have charged anything, whatever broke in it. */
export const moneyAfterBug = ({ price }: Endpoint): MoneyOutcome =>
  price === null ? "nothing_charged" : "unknown";

// Nobody but handlers of public endpoints ever sees this caller, and they do not look.
const PUBLIC_CALLER: Caller = {
  account: "",
  credential: "key",
  keyId: "",
  mode: "test",
  scopes: [],
  plan: "free",
};

/** The caller, if it may come in. From the moment it is known every answer carries its allowance. */
const admit = async (
  world: AppWorld,
  endpoint: Endpoint,
  request: HttpRequest,
  headers: Record<string, string>,
): Promise<Caller> => {
  if (endpoint.access === "public") return PUBLIC_CALLER;
  assertNoPressure(world, endpoint);
  const limited = findLimited(world, request.headers);
  if (limited) throw tooMany(world, { ...limited, remaining: 0 }, headers);
  const caller = await orUnavailable(authenticate(world, request.headers));
  await takeRequest(world, caller, headers, request.headers);
  assertMay(world, caller, endpoint.access);
  return caller;
};

/** Takes one request from the caller's minute. What is left is put into the headers, also where nothing was. */
export const takeRequest = async (
  world: AppWorld,
  { plan, keyId }: Caller,
  headers: Record<string, string>,
  sent: Headers | null,
): Promise<void> => {
  const asked = world.rateLimit(keyId, PLANS[plan].requestsPerMinute);
  const allowance = await orUnavailable(asked);
  if (!allowance.allowed) {
    if (sent) rememberLimited(world, sent, allowance);
    throw tooMany(world, allowance, headers);
  }
  showAllowance(allowance, headers);
};

type Shown = Pick<RateLimitResult, "limit" | "remaining" | "resetAt">;

const showAllowance = (
  { limit, remaining, resetAt }: Shown,
  headers: Record<string, string>,
): void => {
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(resetAt);
};

/** Before anything is read: what costs credits waits for better times, and all else goes on. */
const assertNoPressure = (world: AppWorld, { price }: Endpoint): void => {
  if (price === null || !world.pressure?.()) return;
  const what = "The service has more work than it can take at the moment.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what, { isExpected: true });
};

/** What is damaged takes no new payments. Reads go on where they can. */
const assertSound = (world: AppWorld, { price }: Endpoint): void => {
  if (price === null || !world.damagedParts?.().size) return;
  const what =
    "The stored state of this service is damaged, so it takes no requests with a price until it is restored.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what);
};

const openForm = ({ form }: Endpoint, { headers, bytes }: HttpRequest) => {
  const contentType = headers["content-type"];
  return form && isForm(contentType) ? readForm(contentType, bytes()) : null;
};

/** A step before the work: when it cannot be made, nothing is known of the caller, and nothing was done. */
export const orUnavailable = <T>(
  step: Promise<T>,
  money: MoneyOutcome = "nothing_charged",
): Promise<T> =>
  step.catch((cause: unknown) => {
    if (cause instanceof Failure) throw cause;
    const what = "The service cannot read its own state right now.";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });

const tooMany = (world: AppWorld, allowance: Shown, headers: Record<string, string>): Failure => {
  showAllowance(allowance, headers);
  const seconds = Math.max(1, Math.ceil(allowance.resetAt - world.now().getTime() / 1000));
  const what = `Too many requests with this key; the next minute starts in ${seconds} s.`;
  return new Failure("RATE_LIMITED", "nothing_charged", what, {
    retryAfterMs: seconds * 1000,
  });
};

export const answer = <Body>(
  requestId: string,
  statusCode: number,
  headers: Readonly<Record<string, string>>,
  body: Body,
): HttpAnswer<Body> => ({
  statusCode,
  headers: {
    "content-type": "application/json; charset=utf-8",
    // Answers hold credits and addresses: nothing between us and the caller keeps a copy.
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
    "x-request-id": requestId,
  },
  body,
});
