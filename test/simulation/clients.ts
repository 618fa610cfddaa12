import { acceptMail } from "@mailproof/core/deliverability/inbound-mail";
import type { AcceptOutcome } from "@mailproof/core/deliverability/mail-recipient";
import { createSend, type TestResponse } from "../app/send.ts";
import { createMail } from "../things/mail-tests.ts";
import type { Process } from "./process.ts";

/**
 * What a client asks for. With a key, all requests with the same key ask for the same thing once. A search is its own key: the
 * first name that is looked for.
 */
export type ClientRequest = { readonly key: string | null } & Cancelling &
  Deleting &
  (
    | ({ readonly kind: "verify"; readonly email: string; readonly waitMs: number } & Depth)
    | { readonly kind: "form"; readonly email: string }
    | ({
        readonly kind: "batch" | "file";
        readonly emails: readonly string[];
        /** Left out: the default. */
        readonly maxWaitMinutes?: number;
        readonly again?: Again;
        /** After this time another list continues it. */
        readonly continued?: { readonly afterMs: number; readonly emails: readonly string[] };
      } & Depth)
    /** A list that continues a job that the client has. */
    | { readonly kind: "continue"; readonly job: string; readonly emails: readonly string[] }
    /** Rows of a job that the client has: all, or, corrected, those at example.com. */
    | ({ readonly kind: "again"; readonly job: string; readonly emails: readonly string[] } & Again)
    | { readonly kind: "check"; readonly domain: string; readonly refresh: boolean }
    | { readonly kind: "find" }
    /** `mailsAfterMs`: when mails are sent to its address, each by another server. `lingerMs`: what is waited for after. */
    | {
        readonly kind: "mail_test";
        readonly mailsAfterMs: readonly number[];
        readonly lingerMs?: number;
      }
    /** `afterMs`: how long after the client's earlier request. */
    | { readonly kind: "erase"; readonly email: string; readonly afterMs?: number }
  );

/** How long after its acceptance the job of the request is cancelled, and whether by two at once. Absent: it is not. */
type Cancelling = { readonly cancelAfterMs?: number; readonly isCancelledTwice?: boolean };

/** How long after its acceptance the rows of the job are verified again, and at which other domain, if any. */
type Again = { readonly afterMs: number; readonly correctedTo?: string };

/** How long after that the job is deleted, and whether by two at once. Absent: it is not. */
type Deleting = { readonly deleteAfterMs?: number; readonly isDeletedTwice?: boolean };

/** `isShallow`: no mail server is to be asked. */
type Depth = { readonly isShallow?: boolean };

/** The same key for something else is another request. */
export const toRequestId = (request: ClientRequest): string => JSON.stringify(request);

/** One attempt, and its response. */
export type ClientOutcome = ClientResponse | "lost";
/** `during`: which of the balances that the account had were its balance at some time of the try. */
type ClientResponse = TestResponse & { readonly during: readonly [first: number, last: number] };

/** All responses to one request, in order. */
export type RequestHistory = {
  readonly request: ClientRequest;
  readonly outcomes: readonly ClientOutcome[];
  /** For each client that cancelled its job: all its responses. */
  readonly cancels?: readonly (readonly ClientOutcome[])[];
  /** For each client that deleted it: all its responses, and the job as it was read afterwards. */
  readonly deletes?: readonly (readonly ClientOutcome[])[];
  readonly readsAfterDelete?: readonly ClientOutcome[];
  /** For each mail to the address of its test: the final reply to its server. */
  readonly mails?: readonly MailOutcome[];
};

/** deferred: it gave up, and never knew. */
export type MailOutcome = AcceptOutcome | "deferred";

export type Client = {
  readonly apiKey: string;
  /** The headers of a person's session. Absent: the client has the key. */
  readonly startSession?: (() => Promise<Readonly<Record<string, string>>>) | undefined;
  readonly startProcess: () => Process;
  readonly sleep: (ms: number) => Promise<void>;
  /** Puts a file, always the same one under the same key, and says which key that is. */
  readonly upload: (emails: readonly string[]) => Promise<string>;
  /** How many balances the account had until now. */
  readonly countBalances: () => number;
};

const ATTEMPTS_MAX = 12;

/** A client that does what the messages say: it tries again where that is safe, and nowhere else. */
export const sendUntilDone = async (
  client: Client,
  request: ClientRequest,
): Promise<RequestHistory> => {
  const outcomes: ClientOutcome[] = [];
  if (request.kind === "erase" && request.afterMs !== undefined)
    await client.sleep(request.afterMs);
  while (outcomes.length < ATTEMPTS_MAX) {
    const outcome = await attempt(client, request);
    outcomes.push(outcome);
    const waitMs = getRetryDelay(outcome, request);
    if (waitMs === undefined) break;
    await client.sleep(waitMs);
  }
  return { request: request, outcomes };
};

/** The same, and then its job, if it has one, is verified again, cancelled, deleted, or several of these. */
export const sendAndEnd = async (
  client: Client,
  request: ClientRequest,
): Promise<readonly RequestHistory[]> => {
  const history = await sendUntilDone(client, request);
  const last = history.outcomes.at(-1);
  const answered = last === undefined || last === "lost" ? undefined : last.data;
  if (request.kind === "mail_test" && answered?.address !== undefined)
    return [{ ...history, mails: await mailSometime(client, request, String(answered.address)) }];
  const id = answered?.job_id;
  if (id === undefined) return [history];
  const [children, continued, cancels] = await Promise.all([
    verifyAgainSometime(client, request, String(id)),
    continueSometime(client, request, String(id)),
    cancelSometime(client, request, String(id)),
  ]);
  const deletes = await deleteSometime(client, request, String(id));
  return [{ ...history, ...cancels, ...deletes }, ...children, ...continued];
};

/** The newer list is cancelled as the earlier one was, if that comes to nothing or before. */
const continueSometime = async (
  client: Client,
  request: ClientRequest,
  job: string,
): Promise<readonly RequestHistory[]> => {
  if ((request.kind !== "batch" && request.kind !== "file") || !request.continued) return [];
  const { continued, key, cancelAfterMs } = request;
  await client.sleep(continued.afterMs);
  const cancelling = cancelAfterMs === undefined ? {} : { cancelAfterMs };
  return sendAndEnd(client, {
    kind: "continue",
    key,
    job,
    emails: continued.emails,
    ...cancelling,
  });
};

/** The child is cancelled as its parent was, if that comes to nothing or before. */
const verifyAgainSometime = async (
  client: Client,
  request: ClientRequest,
  job: string,
): Promise<readonly RequestHistory[]> => {
  if ((request.kind !== "batch" && request.kind !== "file") || !request.again) return [];
  const { again, key, emails, cancelAfterMs } = request;
  await client.sleep(again.afterMs);
  const cancelling = cancelAfterMs === undefined ? {} : { cancelAfterMs };
  return sendAndEnd(client, { kind: "again", key, job, emails, ...again, ...cancelling });
};

const mailSometime = async (
  client: Client,
  { mailsAfterMs, lingerMs = 0 }: Extract<ClientRequest, { kind: "mail_test" }>,
  address: string,
): Promise<readonly MailOutcome[]> => {
  const mails = await Promise.all(
    mailsAfterMs.map(async (afterMs, at) => {
      await client.sleep(afterMs);
      return mailUntilDone(client, address, `ann${at}@shop.example`);
    }),
  );
  await client.sleep(lingerMs);
  return mails;
};

/** A mail server: it tries again until it gets a reply that is final. */
const mailUntilDone = async (
  client: Client,
  address: string,
  from: string,
): Promise<MailOutcome> => {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const { world, crashed } = client.startProcess();
    const accepting = acceptMail(world, address, createMail(world.now(), { from })).catch(
      () => "deferred" as const,
    );
    const outcome = await Promise.race([accepting, crashed]);
    if (outcome !== "crashed" && outcome !== "deferred") return outcome;
    await client.sleep(CLIENT_TIMEOUT_MS);
  }
  return "deferred";
};

const cancelSometime = async (
  client: Client,
  { cancelAfterMs, isCancelledTwice }: ClientRequest,
  id: string,
): Promise<Pick<RequestHistory, "cancels">> => {
  if (cancelAfterMs === undefined) return {};
  await client.sleep(cancelAfterMs);
  const clients = Array.from({ length: isCancelledTwice ? 2 : 1 }, () =>
    cancelUntilDone(client, id),
  );
  return { cancels: await Promise.all(clients) };
};

const deleteSometime = async (
  client: Client,
  { deleteAfterMs, isDeletedTwice }: ClientRequest,
  id: string,
): Promise<Pick<RequestHistory, "deletes" | "readsAfterDelete">> => {
  if (deleteAfterMs === undefined) return {};
  await client.sleep(deleteAfterMs);
  const deletes = await Promise.all(
    Array.from({ length: isDeletedTwice ? 2 : 1 }, () => deleteUntilDone(client, id)),
  );
  const reads: ClientOutcome[] = [];
  if (deletes.some((responses) => isSuccess(responses.at(-1))))
    for (const path of [`/v1/jobs/${id}`, `/v1/jobs/${id}/download`])
      reads.push(await sendOnce(client, [`GET ${path}`, undefined]));
  return { deletes, readsAfterDelete: reads };
};

const isSuccess = (outcome: ClientOutcome | undefined): boolean =>
  outcome !== undefined && outcome !== "lost" && outcome.statusCode === 200;

/** An open job cannot be deleted: the client asks again. */
const deleteUntilDone = async (client: Client, id: string): Promise<readonly ClientOutcome[]> => {
  const outcomes: ClientOutcome[] = [];
  while (outcomes.length < ATTEMPTS_MAX) {
    const outcome = await sendOnce(client, [`DELETE /v1/jobs/${id}`, undefined]);
    outcomes.push(outcome);
    const isOpen = outcome !== "lost" && outcome.error?.code === "JOB_OPEN";
    if (outcome !== "lost" && outcome.statusCode < 500 && !isOpen) break;
    await client.sleep(isOpen ? OPEN_JOB_RETRY_MS : CLIENT_TIMEOUT_MS);
  }
  return outcomes;
};

const OPEN_JOB_RETRY_MS = 60_000;

const cancelUntilDone = async (client: Client, id: string): Promise<readonly ClientOutcome[]> => {
  const outcomes: ClientOutcome[] = [];
  while (outcomes.length < ATTEMPTS_MAX) {
    const outcome = await sendOnce(client, [`POST /v1/jobs/${id}/cancel`, undefined]);
    outcomes.push(outcome);
    const isDecided = outcome !== "lost" && outcome.statusCode < 500 && !outcome.error?.retryable;
    if (isDecided) break;
    await client.sleep(CLIENT_TIMEOUT_MS);
  }
  return outcomes;
};

const attempt = async (client: Client, request: ClientRequest): Promise<ClientOutcome> =>
  sendOnce(client, await toHttpRequest(client, request), request.key);

type HttpRequest = readonly [
  route: string,
  body: unknown,
  query?: Readonly<Record<string, string>>,
];

const sendOnce = async (
  client: Client,
  [route, body, query]: HttpRequest,
  idempotencyKey: string | null = null,
): Promise<ClientOutcome> => {
  const { world, crashed, release } = client.startProcess();
  const first = Math.max(0, client.countBalances() - 1);
  const session = await client.startSession?.();
  const keyed = idempotencyKey === null ? undefined : { "idempotency-key": idempotencyKey };
  const response = createSend(release)(world, route, {
    ...(!session && { key: client.apiKey }),
    ...((session || keyed) && { headers: { ...session, ...keyed } }),
    ...(body !== undefined && { body }),
    ...(query && { query }),
  });
  const outcome = await Promise.race([response, crashed]);
  if (outcome === "crashed") return "lost";
  return { ...outcome, during: [first, client.countBalances()] };
};

const toHttpRequest = async ({ upload }: Client, request: ClientRequest): Promise<HttpRequest> => {
  switch (request.kind) {
    case "verify":
      return [
        "POST /v1/verify",
        {
          email: request.email,
          options: { timeout_ms: request.waitMs, ...toDepthOptions(request) },
        },
      ];
    case "form":
      return ["POST /v1/verify/form", { email: request.email }];
    case "check":
      return [
        "POST /v1/deliverability/check",
        { domain: request.domain, refresh: request.refresh },
      ];
    case "again":
      return [`POST /v1/jobs/${request.job}/again`, toSelection(request)];
    case "erase":
      return ["DELETE /v1/data", undefined, { email: request.email }];
    case "mail_test":
      return ["POST /v1/deliverability/tests", undefined];
    case "find":
      return [
        "POST /v1/find",
        { first_name: request.key, last_name: "Lee", domain: "example.com" },
      ];
    case "batch":
      return ["POST /v1/verify/batch", { emails: request.emails, options: toJobOptions(request) }];
    case "continue": {
      const file_key = await upload(request.emails);
      return ["POST /v1/verify/file", { action: "process", file_key, continues: request.job }];
    }
    case "file": {
      const file_key = await upload(request.emails);
      return [
        "POST /v1/verify/file",
        { action: "process", file_key, options: toJobOptions(request) },
      ];
    }
  }
};

const toSelection = ({ correctedTo: meant }: Again) =>
  meant === undefined ? { filter: "score:0-100" } : { correct: { domain: "example.com", meant } };

type JobOptions = Depth & { readonly maxWaitMinutes?: number };

const toJobOptions = ({ maxWaitMinutes: minutes, ...depth }: JobOptions) => ({
  ...toDepthOptions(depth),
  ...(minutes !== undefined && { max_wait_minutes: minutes }),
});

const toDepthOptions = ({ isShallow = false }: Depth) => ({ deep_verify: !isShallow });

const CLIENT_TIMEOUT_MS = 2_000;

/** Undefined: it is over, or a repeat might be charged again. */
const getRetryDelay = (
  outcome: ClientOutcome,
  { key, kind }: ClientRequest,
): number | undefined => {
  const isRepeatable = key !== null || kind === "erase";
  if (outcome === "lost") return isRepeatable ? CLIENT_TIMEOUT_MS : undefined;
  if (outcome.statusCode < 300) return undefined;
  const { message, retryable, code } = outcome.error as {
    message: string;
    retryable?: boolean;
    code: string;
  };
  if ((kind === "again" || kind === "continue") && code === "JOB_OPEN") return OPEN_JOB_RETRY_MS;
  const seconds = Number(outcome.headers["retry-after"] ?? 1);
  if (/same (?:Idempotency-Key; it|search sent again) .*will not/.test(message))
    return seconds * 1000;
  // Nothing was charged and it may work later: the client may repeat it.
  return retryable && message.includes("Nothing was charged.") ? seconds * 1000 : undefined;
};
