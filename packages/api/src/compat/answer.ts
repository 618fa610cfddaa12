import type { AppWorld } from "@mailproof/core/app-world";
import { Failure, type FailureCode, type MoneyOutcome } from "@mailproof/core/lib/failure";
import { getBalance } from "@mailproof/core/money/balance";
import { type Halves, toCredits } from "@mailproof/core/money/credits";
import { TEST_BALANCE } from "@mailproof/core/money/test-mode";
import type { Json } from "@mailproof/core/ports/table";
import * as v from "valibot";
import { verifyEmail } from "../endpoints/verify-email.ts";
import type { UnroutedRequest } from "../http/answerers.ts";
import { type Caller, type Endpoint, endpoint, ok } from "../http/endpoint.ts";
import { getFailureMessage } from "../http/http-failure.ts";
import { parse } from "../http/parse.ts";
import {
  answer,
  asFailure,
  type HttpAnswer,
  type HttpRequest,
  refuse,
  respond,
} from "../http/respond.ts";
import { withoutSlashes } from "../http/router.ts";
import type { VerificationResult } from "../schema/verification.ts";
import {
  type Action,
  type Around,
  type Dialect,
  type Fault,
  type Fields,
  type Found,
  OUR_FAILURE,
  PENDING,
  readFields,
  readKey,
  toFound,
  USUAL_STATUSES,
} from "./dialect.ts";
import { DIALECTS } from "./vendors.ts";

// Installed clients of other verifiers call /compat/{vendor}/... with a key of this service. A call becomes a request to
// POST /v1/verify, whose handler decides on the key, limits, money and the request log; then the vendor's table writes the
// response. The URL may contain the key, so this folder writes no URL and no parameter to a log.

export type CompatRequest = UnroutedRequest &
  Pick<HttpRequest, "clientIp" | "onCaller"> & {
    /** The body, which the service reads before it knows the caller: the body may contain the key. */
    readonly bytes: () => AsyncIterable<Uint8Array>;
  };

export const isCompatPath = (rawPath: string): boolean => rawPath.startsWith("/compat/");

export const answerCompat = async (
  world: AppWorld,
  request: CompatRequest,
): Promise<HttpAnswer<string>> => {
  const [, vendor = "", path = ""] = /^\/compat\/([^/]*)(.*)$/s.exec(request.rawPath) ?? [];
  const dialect = Object.hasOwn(DIALECTS, vendor) ? DIALECTS[vendor] : undefined;
  if (!dialect) return refuse(world, request, createVendorFailure());
  const routes = listRoutes(dialect, withoutSlashes(path));
  const action = routes.get(request.method);
  if (action === undefined) return refuseRoute(dialect, request, [...routes.keys()].join(", "));
  try {
    const fields = await readFields(dialect, request);
    const call = { request, fields, action, key: readKey(dialect, request, fields) };
    return await ACTIONS[action](world, dialect, call);
  } catch (error) {
    const failure = asFailure(error, "unknown");
    const { code, cause } = failure;
    if (code === "INTERNAL") world.log("failure", { requestId: request.id, code, cause });
    return refuseAs(dialect, request, toFault(code), getFailureMessage(failure), action);
  }
};

const createVendorFailure = () => {
  const what = `No such vendor. The vendors are ${Object.keys(DIALECTS).join(", ")}.`;
  return new Failure("NOT_FOUND", "nothing_charged", what);
};

/** The actions of a path by their methods. NeverBounce's clients name a version in the path, such as v4.2. */
const listRoutes = ({ routes }: Dialect, path: string): ReadonlyMap<string, Action> => {
  const suffix = ` ${path.replace(/^\/v4\.\d{1,2}\//, "/v4/")}`;
  const found = Object.entries(routes).filter(([route]) => route.endsWith(suffix));
  return new Map(found.map(([route, action]) => [route.slice(0, -suffix.length), action]));
};

const refuseRoute = (dialect: Dialect, request: CompatRequest, allow: string) =>
  allow === ""
    ? refuseAs(dialect, request, "no_route", "The service has no such route of this vendor.")
    : refuseAs(dialect, request, "wrong_method", `Use ${allow}.`, null, { allow });

const refuseAs = (
  { statuses, toError }: Dialect,
  { id }: Pick<CompatRequest, "id">,
  fault: Fault,
  message: string,
  action: Action | null = null,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer<string> =>
  write(id, statuses?.[fault] ?? USUAL_STATUSES[fault], headers, toError(fault, message, action));

/** The type has no charset, because a client of NeverBounce compares the whole type. */
const write = (
  id: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json,
): HttpAnswer<string> =>
  answer(id, status, { ...headers, "content-type": "application/json" }, JSON.stringify(body));

type Call = {
  readonly request: CompatRequest;
  readonly fields: Fields;
  readonly action: Action;
  readonly key: string | null;
};

type ErrorPart = {
  readonly code: FailureCode;
  readonly message: string;
  readonly money: MoneyOutcome;
};

type Asked = {
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: Caller | undefined;
  readonly data?: unknown;
  readonly error?: ErrorPart;
};

/** Sends the call through an operation. Of the client's headers it passes on only the key and the Idempotency-Key. */
const ask = async (
  world: AppWorld,
  operation: Endpoint,
  { request, key }: Call,
  body?: unknown,
): Promise<Asked> => {
  const { id, baseUrl, clientIp, headers } = request;
  let caller: Caller | undefined;
  const response = await respond(world, operation, {
    id,
    baseUrl,
    clientIp,
    path: {},
    query: {},
    headers: { "x-api-key": key ?? undefined, "idempotency-key": headers["idempotency-key"] },
    body: async () => body,
    bytes: () => {
      throw new Error("a vendor's call has no form");
    },
    onCaller: (found) => {
      caller = found;
      request.onCaller?.(found);
    },
  });
  const envelope = JSON.parse(response.body as string) as Pick<Asked, "data" | "error">;
  return { ...envelope, headers: response.headers, caller };
};

const FAULTS: Partial<Readonly<Record<FailureCode, Fault>>> = {
  UNAUTHORIZED: "wrong_key",
  FORBIDDEN: "wrong_key",
  INSUFFICIENT_CREDITS: "no_credits",
  RATE_LIMITED: "too_many_requests",
  INTERNAL: "failed",
  UNAVAILABLE: "failed",
};

const toFault = (code: FailureCode): Fault => FAULTS[code] ?? "bad_request";

/** True when the failure is ours and costs nothing: then the vendor's word for unknown says all. */
const isFreeFailure = ({ code, money }: ErrorPart): boolean =>
  toFault(code) === "failed" && (money === "nothing_charged" || money === "refunded");

const refuseCall = (
  dialect: Dialect,
  { request, key, action }: Call,
  { code, message }: ErrorPart,
  headers: Asked["headers"],
): HttpAnswer<string> => {
  const fault = key === null && code === "UNAUTHORIZED" ? "no_key" : toFault(code);
  // The message names the field of POST /v1/verify.
  const named = message.replace(/^email:/, `${dialect.email}:`);
  return refuseAs(dialect, request, fault, named, action, headers);
};

type Act = (world: AppWorld, dialect: Dialect, call: Call) => Promise<HttpAnswer<string>>;

const verifyOne: Act = async (world, dialect, call) => {
  const { request, fields } = call;
  const startedAt = world.now().getTime();
  const email = fields[dialect.email];
  const asked = await ask(world, verifyEmail, call, toBody(email, readWait(dialect, fields)));
  const { headers, caller, error } = asked;
  if (error && !isFreeFailure(error)) return refuseCall(dialect, call, error, headers);
  const data = error ? undefined : (asked.data as Data);
  const around: Around = {
    ms: world.now().getTime() - startedAt,
    isLive: caller?.mode === "live",
    credits: dialect.showsCredits && caller && (await findCredits(world, caller)),
  };
  const shown = {
    ...headers,
    ...dialect.toHeaders?.(around),
    "mailproof-evidence": toEvidenceUrl(request, data),
  };
  const found = toFoundOr(data, typeof email === "string" ? email : "", world.now());
  return write(request.id, 200, shown, dialect.toResult(found, around));
};

const toBody = (email: unknown, timeoutMs: number) => ({
  ...(email !== undefined && { email }),
  options: { include_evidence: true, timeout_ms: timeoutMs },
});

/** The result of a pending verification is in its job. Any other request is in the account's log of requests. */
const toEvidenceUrl = ({ baseUrl, id }: CompatRequest, data: Data | undefined): string =>
  data && "job_id" in data
    ? `${baseUrl}/v1/jobs/${data.job_id}`
    : `${baseUrl}/v1/requests?q=${encodeURIComponent(id)}`;

type Data = VerificationResult | { readonly status: "pending"; readonly job_id: string };

/** No vendor has a word for a verification without a result, so each answers with its unknown. */
const toFoundOr = (data: Data | undefined, email: string, now: Date): Found => {
  if (data && data.status !== "pending") return toFound(data);
  const reason = data ? PENDING : OUR_FAILURE;
  return toFound({ email, status: "unknown", reason, verified_at: now.toISOString() });
};

const LONGEST_MS = 25_000;

/** Whole milliseconds of the client's timeout. A timeout that is not a positive number counts as absent. */
const readWait = ({ timeoutUnitMs = 0, waitMs }: Dialect, { timeout }: Fields): number => {
  // Number would call a method of an object.
  const sent = typeof timeout === "object" ? 0 : Number(timeout) * timeoutUnitMs;
  return sent > 0 ? Math.round(Math.min(sent, LONGEST_MS)) : waitMs;
};

const findBalance = async (world: AppWorld, { account, mode }: Caller): Promise<number> => {
  const { available } = mode === "live" ? await getBalance(world.table, account) : TEST_BALANCE;
  return toWhole(available);
};

/** Vendors count whole credits. */
const toWhole = (available: Halves): number => Math.floor(toCredits(available));

/** Undefined when the balance cannot be read: the response has the paid result without it. */
const findCredits = (world: AppWorld, caller: Caller): Promise<number | undefined> =>
  findBalance(world, caller).catch((cause: unknown) => {
    world.log("balance_unread", { cause });
    return undefined;
  });

/** Not a listed operation: a key that may buy verifications also sees the balance, as the vendors' keys do. */
const readCredits = endpoint({
  id: "readCredits",
  route: "GET /v1/account",
  tag: "Account",
  summary: "Read the balance.",
  access: "verification:write",
  output: v.number(),
  handle: async (world, caller) => ok(await findBalance(world, caller)),
});

const showCredits: Act = async (world, dialect, call) => {
  const { headers, data, error } = await ask(world, readCredits, call);
  if (error) return refuseCall(dialect, call, error, headers);
  return write(call.request.id, 200, headers, dialect.toCredits?.(Number(data)) ?? {});
};

const BATCH_MAX = 200;
/** The verifications of one batch that run at the same time. */
const BATCH_AT_ONCE = 20;
/** A Lambda has 29 s: an address whose turn comes after this time continues as a job. */
const BATCH_MS = 20_000;

const Batch = v.object({
  email_batch: v.pipe(
    v.array(v.object({ email_address: v.string() })),
    v.minLength(1, "must have at least one entry"),
    v.maxLength(BATCH_MAX, `must have at most ${BATCH_MAX} entries`),
  ),
});

type Outcome = { readonly data?: Data; readonly error?: ErrorPart };

const VERIFY: Endpoint = verifyEmail;

/** Counts as one request. The handler of POST /v1/verify verifies and charges each different address once. */
const verifyEach: Endpoint = {
  ...VERIFY,
  body: Batch,
  handle: async (world, caller, input) => {
    const { email_batch: batch } = input.body as v.InferOutput<typeof Batch>;
    const waiting = [...new Set(batch.map((one) => one.email_address))].entries();
    const outcomes: (readonly [email: string, Outcome])[] = [];
    const endsAt = world.now().getTime() + BATCH_MS;
    const work = async (): Promise<void> => {
      for (const [at, email] of waiting) {
        const body = toBody(email, Math.max(0, endsAt - world.now().getTime()));
        // A sent key contains no space, so no other request has this key.
        const key = input.key === null ? null : `${input.key} ${at}`;
        outcomes.push([email, await verifyInBatch(world, caller, { ...input, key, body })]);
      }
    };
    await Promise.all(Array.from({ length: BATCH_AT_ONCE }, work));
    return ok(outcomes);
  },
};

const verifyInBatch = async (
  world: AppWorld,
  caller: Caller,
  input: Parameters<Endpoint["handle"]>[2],
): Promise<Outcome> => {
  try {
    const parsed = parse(VERIFY, { ...input, path: {}, query: {} });
    const answered = await VERIFY.handle(world, caller, { ...input, ...parsed });
    return { data: (answered as { readonly data: unknown }).data as Data };
  } catch (error) {
    const failure = asFailure(error, "unknown");
    const { code, money, cause } = failure;
    if (toFault(code) === "failed") world.log("failure", { code, cause: cause ?? failure });
    return { error: { code, money, message: getFailureMessage(failure) } };
  }
};

const verifyBatch: Act = async (world, dialect, call) => {
  const { request, fields } = call;
  const { headers, data, error } = await ask(world, verifyEach, call, fields);
  if (error) return refuseCall(dialect, call, error, headers);
  const outcomes = new Map(data as readonly (readonly [string, Outcome])[]);
  const results: Json[] = [];
  const errors: Json[] = [];
  for (const { email_address: email } of v.parse(Batch, fields).email_batch) {
    const { data: result, error: fault } = outcomes.get(email) ?? ({} as Outcome);
    const found = toFoundOr(result, email, world.now());
    if (fault && !isFreeFailure(fault)) errors.push({ error: fault.message, email_address: email });
    else results.push(dialect.toResult(found, { credits: undefined, isLive: true, ms: 0 }));
  }
  return write(request.id, 200, headers, { email_batch: results, errors });
};

const ACTIONS: Readonly<Record<Action, Act>> = {
  verify: verifyOne,
  verifyMany: verifyBatch,
  credits: showCredits,
};
