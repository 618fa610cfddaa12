import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import type { Json } from "@mailproof/core/ports/table";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { toEvent, type WireRequest } from "../../infra/gateway-event.ts";
import {
  type Lambda,
  routes,
  scheduleSpecs,
  uploadLimit,
  workerSpecs,
} from "../../infra/topology.ts";
import { createSqsEvent } from "../aws/events.ts";
import { createReceipt } from "../things/ses.ts";
import type { Outcome } from "./instance.ts";
import type { Stage } from "./stage.ts";

// What AWS calls each Lambda with, and what the Lambda answers.

export type Exchange = {
  readonly event: unknown;
  /** What `summarize` says of the outcome. */
  readonly answer: RegExp;
};

export type Exchanges = {
  readonly first: Exchange;
  readonly second: Exchange;
  /** An event that is none: the Lambda reports an error, and its process continues. */
  readonly broken: Exchange;
  /** AWS is silent and the time is up: whatever is answered then is not a success. */
  readonly late: Exchange;
};

/** In a few words, for a comparison. */
export const summarize = (outcome: Outcome): string => {
  if (outcome.kind === "error") return `error ${outcome.errorType}`;
  if (outcome.kind !== "response") return outcome.kind;
  const { response } = outcome;
  if (response === null) return "nothing";
  if (isHttp(response))
    return `${response.statusCode}${isOurs(response) ? "" : " of another form"}`;
  if (isBatch(response)) return `${response.batchItemFailures.length} failed`;
  return JSON.stringify(response);
};

const isHttp = (response: unknown): response is APIGatewayProxyStructuredResultV2 =>
  typeof response === "object" && response !== null && "statusCode" in response;

const isBatch = (
  response: unknown,
): response is { readonly batchItemFailures: readonly unknown[] } =>
  typeof response === "object" && response !== null && "batchItemFailures" in response;

/** API Gateway would send whatever it is given. */
const isOurs = ({ headers = {}, body }: APIGatewayProxyStructuredResultV2): boolean =>
  typeof body === "string" && typeof headers["content-type"] === "string";

export const createExchanges = (lambda: Lambda, stage: Stage): Exchanges => {
  const route = routes.find((one) => one.lambda === lambda)?.route;
  if (route !== undefined) return createHttpExchanges(route, stage);
  const queue = findOwnQueue(lambda);
  if (queue !== null) return createWorkerExchanges(queue, stage);
  if (lambda === uploadLimit) return UPLOAD_LIMIT;
  if (lambda.name === "ScheduleLetters") return LETTERS;
  return scheduleSpecs.some((one) => one.lambda === lambda) ? SCHEDULE : PROBER;
};

export const findOwnQueue = (lambda: Lambda): string | null =>
  workerSpecs.find((one) => one.lambda === lambda)?.queue ?? null;

const NO_EVENT = null;
const LATE = /^(?:timeout|50[03]|error .*)$/;

const createHttpExchanges = (route: string, { liveKey }: Stage): Exchanges => {
  const { access, fromOwnPage } = findEndpoint(route);
  const request = createRequest(route);
  const key = [["x-api-key", liveKey]] as const;
  const first = toEvent({ ...request, headers: [...(request.headers ?? []), ...key] });
  // The key is known, and nothing of ours fails.
  const isForPages = fromOwnPage || access === "person" || access === "people";
  const answer = ANSWERS[route] ?? (isForPages ? /^403$/ : /^(?:2\d\d|4(?!01|03)\d\d)$/);
  return {
    first: { event: first, answer },
    second: { event: toEvent(request), answer: access === "public" ? answer : /^401$/ },
    broken: { event: NO_EVENT, answer: /^error / },
    late: { event: first, answer: access === "public" ? /^(?:[24]\d\d|50[03])$/ : LATE },
  };
};

const ANSWERS: Readonly<Record<string, RegExp>> = {
  // It gives what it asks one second, and says so when a busy machine took longer.
  "GET /health": /^(?:200|503)$/,
  // No mail is received on AWS.
  "POST /v1/deliverability/tests": /^501$/,
};

/** What is not an endpoint is public: the documents. The tools have their own way to refuse. */
const COMPAT = "ANY /compat/{vendor}/{path+}";

const findEndpoint = (route: string): Pick<Endpoint, "access" | "fromOwnPage"> =>
  endpoints.find((one) => one.route === route) ?? {
    access: route === "ANY /mcp" || route === COMPAT ? "unrestricted" : "public",
  };

const createRequest = (route: string): WireRequest => {
  const json = ["content-type", "application/json"] as const;
  if (route === "$default") return { method: "GET", url: "/docs" };
  if (route === COMPAT) return { method: "GET", url: "/compat/emailable/v1/account" };
  if (route === "ANY /mcp")
    return {
      method: "POST",
      url: "/mcp",
      headers: [json, ["accept", "application/json, text/event-stream"]],
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: TOOL_CALL }),
    };
  const [method = "", path = ""] = route.split(" ");
  const url = path.replaceAll(/\{\w+\}/g, "none");
  return method === "POST" || method === "PUT"
    ? { method, url, headers: [json], body: "{}" }
    : { method, url };
};

const TOOL_CALL = { name: "get_account", arguments: {} };

/** About work that is done, or never was: a message may come late. */
const createMessage = (queue: string, { account }: Stage): Json => {
  const messages: Readonly<Record<string, Json>> = {
    singles: { job: "job_none", waits: 0 },
    chunks: { job: "job_none", chunk: 0, pass: 0, from: 0, to: 0, checksum: 0 },
    exports: { job: "job_none", kind: "none", id: "exp_none", part: 0 },
    monitors: { monitor: "mon_none", at: "2026-11-21T00:00:00.000Z" },
    events: { id: "evt_none", token: "none" },
    "mail-tests": { test: "mt_none" },
    deliveries: { id: "dlv_none", token: "none" },
    mails: { id: "mail_none", token: "none" },
    "inbound-mail": createReceipt(["reports-none@mail.example.com"]),
    activity: {
      eventType: "Delivery",
      mail: {
        messageId: "0100",
        timestamp: new Date().toISOString(),
        destination: ["ann@example.com"],
        tags: { mailproof_account: [account] },
      },
      delivery: { timestamp: new Date().toISOString(), recipients: ["ann@example.com"] },
    },
  };
  const message = messages[queue.replace(/-dead$/, "")];
  if (message === undefined) throw new Error(`createMessage has none for ${queue}.`);
  return message;
};

const LATE_WORKER = /^(?:timeout|1 failed|error .*)$/;
/** Their dead letters are only logged: the work itself stays due. */
const ASKS_NOTHING: readonly string[] = ["events-dead", "deliveries-dead", "mails-dead"];

const createWorkerExchanges = (queue: string, stage: Stage): Exchanges => {
  const eventSourceARN = stage.getQueueArn(queue);
  const createEvent = (body: Json) => {
    const { Records } = createSqsEvent(queue, [{ receipt: "none", body, receiveCount: 1 }]);
    return { Records: Records.map((record) => ({ ...record, eventSourceARN })) };
  };
  const message = createEvent(createMessage(queue, stage));
  return {
    first: { event: message, answer: /^0 failed$/ },
    second: { event: createEvent({ of: "another release" }), answer: /^1 failed$/ },
    broken: { event: NO_EVENT, answer: /^error / },
    // Whichever it is, the message stays in the queue.
    late: { event: message, answer: ASKS_NOTHING.includes(queue) ? /^0 failed$/ : LATE_WORKER },
  };
};

const SCHEDULED = {
  version: "0",
  id: "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
  "detail-type": "Scheduled Event",
  source: "aws.scheduler",
  time: "2026-11-21T00:00:00Z",
  detail: "{}",
};

/** A schedule reads nothing of its event. */
const SCHEDULE: Exchanges = {
  first: { event: SCHEDULED, answer: /^nothing$/ },
  second: { event: SCHEDULED, answer: /^nothing$/ },
  broken: { event: NO_EVENT, answer: /^nothing$/ },
  late: { event: SCHEDULED, answer: LATE },
};

/** Without MAIL_FROM no letter is due, so this schedule asks AWS nothing. */
const LETTERS: Exchanges = { ...SCHEDULE, late: { event: SCHEDULED, answer: /^nothing$/ } };

const UPLOADED = {
  Records: [
    { s3: { object: { key: "uploads/live/acc_1/upl_1.csv", size: 60_000_000, versionId: "v" } } },
  ],
};

const UPLOAD_LIMIT: Exchanges = {
  first: { event: UPLOADED, answer: /^nothing$/ },
  second: { event: UPLOADED, answer: /^nothing$/ },
  broken: { event: NO_EVENT, answer: /^error / },
  late: { event: UPLOADED, answer: /^(?:nothing|timeout|error .*)$/ },
};

const QUESTION = {
  recipient: "ann@example.com",
  domain: "example.com",
  hosts: [{ host: "mx.example.com", priority: 0, ips: ["203.0.113.1"] }],
  probeCatchAll: false,
  requester: { account: "acc_none", priority: "caller" },
};

const PROBER: Exchanges = {
  first: { event: QUESTION, answer: /^\{"recipient":"ann@example.com".*\}$/ },
  second: { event: QUESTION, answer: /^\{"recipient":"ann@example.com".*\}$/ },
  broken: { event: NO_EVENT, answer: /^error / },
  late: { event: QUESTION, answer: /^(?:timeout|error .*|\{"recipient".*)$/ },
};
