import type { AppWorld } from "@mailproof/core/app-world";
import { Failure, type FailureCode, type MoneyOutcome } from "@mailproof/core/lib/failure";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { Pressure } from "@mailproof/core/ports/pressure";
import { assertMay, authenticate, type Headers } from "./authenticate.ts";
import { assertNotCompressed, getBodyBytesMax } from "./body.ts";
import type { Caller, Endpoint, FormUse, Streamed } from "./endpoint.ts";
import { readForm } from "./form.ts";
import { isForm } from "./form-headers.ts";
import {
  getDocUrl,
  getFailureHeaders,
  getFailureMessage,
  getStatus,
  orUnavailable,
} from "./http-failure.ts";
import { adjustForRepeat, readIdempotencyKey } from "./idempotency.ts";
import { parse } from "./parse.ts";
import { assertNotLimited, takeRequest } from "./rate-limit.ts";
import { isFromOwnPage, readSessionToken } from "./session.ts";

/**
 * Reads the first chunk early, so that an error before it gets its own response instead of a broken connection. Calls `onEnd`
 * when the source has ended, was closed or failed. Not a generator, because a generator that has not started closes nothing
 * when it ends.
 */
const withFirstPiece = async <T>(
  source: AsyncIterable<T>,
  onEnd: () => void = () => undefined,
): Promise<AsyncIterable<T>> => {
  const pieces = source[Symbol.asyncIterator]();
  const read = async () => {
    try {
      const result = await pieces.next();
      if (result.done) onEnd();
      return result;
    } catch (error) {
      onEnd();
      throw error;
    }
  };
  const first = await read();
  let isFirst = true;
  const next = async () => {
    if (!isFirst) return read();
    isFirst = false;
    return first;
  };
  const close = async () => {
    onEnd();
    await pieces.return?.();
    return { done: true as const, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: close }) };
};

export type HttpRequest = {
  readonly id: string;
  /** The service's URL for the client, without a final slash: the start of links in the response. */
  readonly baseUrl: string;
  readonly headers: Headers;
  /** The client's address, for keys that are limited to networks. It is neither stored nor logged. */
  readonly clientIp?: string | undefined;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Reads a body of at most `bytesMax` bytes as JSON; undefined when the client sent none. Called once the caller is known. */
  readonly body: (bytesMax: number) => Promise<unknown>;
  /** The body as a stream, for a form. The handler calls either this or `body`, and only once. */
  readonly bytes: (use: FormUse) => AsyncIterable<Uint8Array>;
  /**
   * Counts a streamed response as a download of this account until the returned function is called; throws at the limit. Absent
   * when each response has its own process.
   */
  readonly acquireDownload?: (account: string) => () => void;
  /** Called once the caller is known. Throws when too many requests of its account are in progress. */
  readonly onCaller?: (caller: Caller) => void;
};

export type HttpAnswer<Body = string | Streamed> = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
};

/** Answers every request, and stores the request of a known caller for its owner. */
export const respond = async (
  world: AppWorld,
  endpoint: Endpoint,
  request: HttpRequest,
): Promise<HttpAnswer> => {
  const startedAt = world.now().getTime();
  let caller: Caller | undefined;
  const onCaller = (found: Caller): void => {
    caller = found;
    request.onCaller?.(found);
  };
  const { response, code } = await handle(world, endpoint, { ...request, onCaller });
  // A successful read changes nothing and costs nothing, and programs poll.
  if (caller && (code !== null || !endpoint.route.startsWith("GET "))) {
    const at = world.now();
    const entry = {
      id: request.id,
      at: at.toISOString(),
      route: endpoint.route,
      status: response.statusCode,
      ms: at.getTime() - startedAt,
      keyId: caller.keyId,
      code,
    };
    // The people of an account are not simulated, so a header of test mode does not hide their changes.
    const owner = endpoint.tag === "People" ? caller.account : getOwnerId(caller);
    await world.requestLog(owner, entry, caller.visitor ? "visitor" : "account");
  }
  return response;
};

type Handled = { readonly response: HttpAnswer; readonly code: FailureCode | null };

const handle = async (
  world: AppWorld,
  endpoint: Endpoint,
  request: HttpRequest,
): Promise<Handled> => {
  const succeed = (response: HttpAnswer): Handled => ({ response, code: null });
  const headers: Record<string, string> = {};
  let isAdmitted = false;
  try {
    assertSound(world, endpoint);
    const admitted = await admit(world, endpoint, request, headers);
    isAdmitted = true;
    const key = readIdempotencyKey(endpoint, request.headers);
    if (endpoint.body) assertNotCompressed(request.headers["content-encoding"]);
    const again = () => identify(world, endpoint, request);
    const sent = openForm(endpoint, request);
    const form = sent && admitted.person ? thenCheck(sent, again) : sent;
    const body = form
      ? undefined
      : endpoint.body && (await request.body(getBodyBytesMax(endpoint)));
    const input = parse(endpoint, { ...request, body, form });
    assertOpenToWork(world, endpoint);
    // A client may hold its body back until a person has lost the role: the person is looked up again.
    const caller = body !== undefined && admitted.person ? await again() : admitted;
    const { baseUrl } = request;
    const session = readSessionToken(request.headers, baseUrl);
    const response = await endpoint.handle(world, caller, { ...input, key, baseUrl, session });
    const all = { ...headers, ...response.headers };
    if (response.kind === "stream") {
      const { stream, elsewhere } = response;
      // Nothing has read the stream yet, so nothing needs closing when this throws.
      const release = request.acquireDownload?.(caller.account);
      return succeed(
        answer(request.id, response.status, all, {
          stream: await withFirstPiece(stream, release),
          elsewhere,
        }),
      );
    }
    const { status, data } = response;
    const payload = endpoint.enveloped === false ? data : { success: true, data };
    return succeed(answer(request.id, status, all, JSON.stringify(payload)));
  } catch (error) {
    const failure = asFailure(error, moneyAfterBug(endpoint));
    const adjusted = adjustForRepeat(failure, endpoint, request.headers, isAdmitted);
    return { response: refuse(world, request, adjusted, headers), code: adjusted.code };
  }
};

/** Makes every failure response, so every failure reports the state of the money. */
export const refuse = (
  world: Pick<AppWorld, "log">,
  { id, baseUrl }: Pick<HttpRequest, "id" | "baseUrl">,
  failure: Failure,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer<string> => {
  const { code, money, details, retryable } = failure;
  const status = getStatus(failure);
  if (status >= 500 && !failure.isExpected)
    world.log("failure", { requestId: id, code, cause: failure.cause ?? failure });
  const error = {
    code,
    message: getFailureMessage(failure),
    // The machine-readable form of the message's last sentence.
    money,
    ...(details !== undefined && { details }),
    ...(retryable && { retryable }),
    doc_url: getDocUrl(baseUrl, code),
  };
  return answer(
    id,
    status,
    { ...headers, ...getFailureHeaders(failure) },
    JSON.stringify({ success: false, error, request_id: id }),
  );
};

/** Returns a thrown Failure. Any other error is a bug: hidden from the client, complete in the log. */
export const asFailure = (error: unknown, money: MoneyOutcome): Failure =>
  error instanceof Failure
    ? error
    : new Failure("INTERNAL", money, "Internal error.", { cause: error });

/** A route without a price cannot have charged anything. */
export const moneyAfterBug = ({ price }: Endpoint): MoneyOutcome =>
  price === null ? "nothing_charged" : "unknown";

// Handlers of public endpoints get this caller and do not use it.
const PUBLIC_CALLER: Caller = {
  account: "",
  credential: "key",
  keyId: "",
  mode: "test",
  scopes: [],
  plan: "free",
};

/** Returns the caller, if it is admitted. Once it is identified, every response has the rate limit headers. */
const admit = async (
  world: AppWorld,
  endpoint: Endpoint,
  request: HttpRequest,
  headers: Record<string, string>,
): Promise<Caller> => {
  if (endpoint.fromOwnPage && !isFromOwnPage(request.headers, request.baseUrl))
    throw new Failure("FORBIDDEN", "nothing_charged", OTHER_PAGE);
  if (endpoint.access === "public") return PUBLIC_CALLER;
  assertNotLimited(world, request.headers, headers);
  return identify(world, endpoint, request, async (caller) => {
    request.onCaller?.(caller);
    // Two concurrent writes take the time of one.
    await Promise.all([takeRequest(world, caller, headers, request.headers), caller.recordUse?.()]);
  });
};

/** Counts the request between the look-up of the caller and the check of its rights. */
const identify = async (
  world: AppWorld,
  endpoint: Endpoint,
  request: HttpRequest,
  count?: (caller: Caller) => Promise<void>,
): Promise<Caller> => {
  const caller = await orUnavailable(authenticate(world, request, endpoint.access === "person"));
  await count?.(caller);
  assertMay(world, caller, endpoint);
  return caller;
};

const OTHER_PAGE = "This operation is for the dashboard of this service.";

const OVERLOADED = "The service is overloaded.";

const REFUSALS: Readonly<Record<Pressure | "stopping", string>> = {
  stopping: "This server is about to stop or restart.",
  event_loop_late: OVERLOADED,
  memory_short: OVERLOADED,
  disk_full: "The disk of this service is full. Reads and running lists continue.",
};

/** Under load and before a stop, refuses operations with a price before their work. A malformed request gets 400 at any load. */
const assertOpenToWork = ({ stopping, pressure }: AppWorld, { price }: Endpoint): void => {
  if (price === null) return;
  const found = stopping.aborted ? "stopping" : pressure();
  if (found === null) return;
  const what = REFUSALS[found];
  throw new Failure("UNAVAILABLE", "nothing_charged", what, { isExpected: true });
};

/** With damaged state, refuses operations with a price. Reads continue where possible. */
const assertSound = (world: AppWorld, { price }: Endpoint): void => {
  if (price === null || !world.damagedParts().size) return;
  const what =
    "The stored state of this service is damaged. Requests with a price are refused until it is restored.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what);
};

/** The handler acts after the last part: a form may take longer to arrive than its sender keeps the role. */
async function* thenCheck<T>(form: AsyncIterable<T>, check: () => Promise<unknown>) {
  yield* form;
  await check();
}

const openForm = ({ form }: Endpoint, { headers, bytes }: HttpRequest) => {
  const contentType = headers["content-type"];
  return form && isForm(contentType) ? readForm(contentType, bytes(form)) : null;
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
    // Responses contain credits and addresses: no cache may store them.
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
    "x-request-id": requestId,
  },
  body,
});

/** Closes the source of the stream without reading it to its end, for a response to HEAD. */
export const closeStream = async (stream: Streamed["stream"]): Promise<void> => {
  await stream[Symbol.asyncIterator]().return?.();
};
