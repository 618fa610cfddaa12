import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { answerCompat, type CompatRequest, isCompatPath } from "@mailproof/api/compat/answer";
import { endpoints } from "@mailproof/api/endpoints";
import { type Answerer, orderAnswerers } from "@mailproof/api/http/answerers";
import {
  assertJsonType,
  BODY_BYTES_MAX,
  bodyTooLarge,
  createJsonGuard,
  FORM_BYTES_MAX,
  formTooLarge,
  parseJson,
} from "@mailproof/api/http/body";
import { createClientFiles } from "@mailproof/api/http/client-files";
import { corsHeaders, preflightHeaders } from "@mailproof/api/http/cors";
import { documentsFrom } from "@mailproof/api/http/documents";
import type { Caller, Endpoint, Streamed } from "@mailproof/api/http/endpoint";
import { parseQuery } from "@mailproof/api/http/query";
import {
  asFailure,
  closeStream,
  type HttpAnswer,
  type HttpRequest,
  refuse,
  respond,
} from "@mailproof/api/http/respond";
import { createRouter, permanentRedirect } from "@mailproof/api/http/router";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Hold } from "@mailproof/core/lib/budget";
import { Failure } from "@mailproof/core/lib/failure";
import { openWriters } from "@mailproof/docs-site/texts";
import { MCP_PATH } from "@mailproof/mcp/origin";
import type { AnswerMcp } from "@mailproof/mcp/serve";
import { createEncoder } from "@mailproof/net/content-encoding";
import { BLOBS_PATH, type OpenLink } from "../storage/blob-links.ts";
import { beginRequestSpan } from "../tracing.ts";
import { CONNECTION_LIMITS, type ConnectionLimits, serveInTurn } from "./connections.ts";
import type { Dashboard } from "./dashboard.ts";
import type { AnswerOperator } from "./operator.ts";
import { drainBody, readUpTo } from "./request-body.ts";
import { createRequestRecord, type OnRequest, type RequestRecord } from "./request-record.ts";
import { pipeToResponse } from "./response-body.ts";
import { serveBlob } from "./serve-blob.ts";
import { getBaseUrl, getClientIp, PLAIN_SITE, type Site, stripBasePath } from "./site.ts";
import { createRequestSlots, createShares, getSlotOwner, type TakeShare } from "./slots.ts";
import { answerStatus } from "./status-page.ts";

/** Bodies that are gathered in memory, large responses, and what downloads read ahead. Callers never hold more than this, whatever they send. */
const HELD_BYTES = { perShare: 60_000_000, inAll: 150_000_000 };
/** Smaller responses are not counted, because a connection's buffers take more. */
const SMALL_BYTES = 50_000;
/** Memory of one download: rows read ahead, and a chunk that the client has not read. */
const DOWNLOAD_BYTES = 3_000_000;

const findDocument = documentsFrom(openWriters);
const findClientFile = createClientFiles(
  async () => (await import("@mailproof/docs-site/clients/archives.built")).ARCHIVES,
);
const encodeAnswer = createEncoder();

/** The counterpart of API Gateway, Lambda and S3: route, read the body, respond. No product logic is here. */
export const createApiServer = (
  world: AppWorld,
  openLink: OpenLink,
  listed: readonly Endpoint[] = endpoints,
  limits: ConnectionLimits = CONNECTION_LIMITS,
  options: Partial<ServerOptions> = {},
): Server => {
  const { site = PLAIN_SITE, onRequest = () => {}, dashboard, answerOperator } = options;
  const route = createRouter(listed);
  const answerers = orderAnswerers<AnswererRequest, string | Uint8Array>({
    mcp: createAnswerMcp(world),
    compat: (request) => (isCompatPath(request.rawPath) ? answerCompat(world, request) : undefined),
    operator: answerOperator,
    dashboard: dashboard?.answer,
    clients: findClientFile,
    status: (request) => answerStatus(world, request),
    documents: (request) => {
      const document = findDocument(request, world.accessTokens);
      return document && encodeAnswer(document, request.headers);
    },
  });
  const takeBytes = createShares("bytes in memory", HELD_BYTES);
  const beginDownload = (account: string) => takeBytes(account, DOWNLOAD_BYTES).giveBack;
  const takeRequest = createRequestSlots(limits);
  const httpServer = createServer({
    keepAliveTimeout: limits.idleMs,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.headersMs / 4,
  });
  serveInTurn(httpServer, limits, world.stopping, (incoming, outgoing, waitForClient) => {
    const span = beginRequestSpan(incoming.headersDistinct["traceparent"]?.join(","));
    const record = createRequestRecord(world.newId("req"), outgoing, (request) => {
      span.end(request);
      onRequest(request);
    });
    const baseUrl = getBaseUrl(site, httpServer);
    const shares = { takeBytes, beginDownload, takeRequest };
    const parts = { site, route, answerers, baseUrl, waitForClient };
    const context = { world, openLink, ...shares, ...parts };
    const serve = () => serveRequest(context, incoming, outgoing, record);
    // Only a broken connection can reject here, and then no response is possible.
    return span.run(serve).catch(() => void outgoing.destroy());
  });
  return httpServer;
};

type AnswererRequest = CompatRequest & Pick<HttpRequest, "body">;

/** MCP's SDK is half as large as the rest of the server, so the first message loads the SDK. */
const createAnswerMcp = (world: AppWorld): Answerer<AnswererRequest> => {
  let loading: Promise<AnswerMcp> | undefined;
  return async (request) => {
    if (request.rawPath !== MCP_PATH) return undefined;
    loading ??= import("@mailproof/mcp/serve").then(({ createMcp }) => createMcp(world));
    return (await loading)({ ...request, query: parseQuery(request.search) });
  };
};

type ServerOptions = {
  readonly site: Site;
  /** Called when a response has ended. */
  readonly onRequest: OnRequest;
  /** Undefined without a dashboard: then the root shows browsers a page of links. */
  readonly dashboard: Dashboard | undefined;
  /** Undefined without OPERATOR_KEY: then the operator has no routes. */
  readonly answerOperator: AnswerOperator | undefined;
};

type ServerContext = {
  readonly world: AppWorld;
  readonly openLink: OpenLink;
  readonly site: Site;
  readonly baseUrl: string;
  readonly route: ReturnType<typeof createRouter<Endpoint>>;
  readonly answerers: ReturnType<typeof orderAnswerers<AnswererRequest, string | Uint8Array>>;
  readonly takeBytes: TakeShare;
  readonly beginDownload: (account: string) => () => void;
  readonly takeRequest: ReturnType<typeof createRequestSlots>;
  readonly waitForClient: () => void;
};

const serveRequest = async (
  context: ServerContext,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  record: RequestRecord,
): Promise<void> => {
  const { world, baseUrl } = context;
  const { id } = record;
  for (const [name, value] of Object.entries(corsHeaders)) outgoing.setHeader(name, value);
  try {
    // With two Host headers, two proxies may have used different ones (RFC 9112 §3.2).
    if ((incoming.headersDistinct["host"]?.length ?? 0) > 1) throw createTwoHostsError();
    if (incoming.method === "OPTIONS") return void outgoing.writeHead(204, preflightHeaders).end();
    const target = stripBasePath(context.site, getTarget(incoming));
    if (target?.startsWith(BLOBS_PATH)) {
      record.route = `${incoming.method} ${BLOBS_PATH}{key}`;
      return await serveBlob(world.blobs, context, target, incoming, outgoing).catch(
        (error: unknown) => {
          throw asFailure(error, "nothing_charged");
        },
      );
    }
    await sendResponse(
      context,
      id,
      incoming,
      outgoing,
      await answerFirst(context, record, target, incoming, outgoing),
    );
  } catch (error) {
    // The caller hung up: no response is possible, and it is not an internal error.
    if (outgoing.headersSent || (incoming.destroyed && !incoming.complete))
      return void outgoing.destroy();
    // A bug outside `respond`: by then the operation may be done and charged.
    const refusal = refuse(world, { id, baseUrl }, asFailure(error, "unknown"));
    await sendResponse(context, id, incoming, outgoing, refusal);
  }
};

const createTwoHostsError = () =>
  new Failure("INVALID_REQUEST", "nothing_charged", "host: is sent twice.");

const createOutsideError = ({ basePath }: Site) =>
  new Failure("NOT_FOUND", "nothing_charged", `No such route. All routes are below ${basePath}.`);

const sendResponse = async (
  { world, waitForClient }: ServerContext,
  id: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { statusCode, headers, body }: HttpAnswer<string | Uint8Array | Streamed>,
): Promise<void> => {
  // Otherwise the unread rest of a body would be parsed as the caller's next request.
  if (!incoming.complete) waitForClient();
  if (!(await drainBody(incoming))) outgoing.setHeader("connection", "close");
  if (typeof body === "string" || body instanceof Uint8Array) {
    // A response without a body has no content-length (RFC 9110 §8.6).
    const length = statusCode !== 304 && { "content-length": Buffer.byteLength(body) };
    return void outgoing.writeHead(statusCode, { ...headers, ...length }).end(body);
  }
  outgoing.writeHead(statusCode, headers);
  if (incoming.method === "HEAD") {
    outgoing.end();
    return closeStream(body.stream);
  }
  await pipeToResponse(body.stream, outgoing).catch((cause: unknown) => {
    world.log("answer_broke_off", { requestId: id, cause });
    outgoing.destroy();
  });
};

/**
 * Lists yield unless it is a read, and the request counts as one of its account's, or of its visitor's network, with what it
 * holds in memory, until the response is known. The bytes of uploads and downloads take their time.
 */
const answerFirst = async (
  context: ServerContext,
  record: RequestRecord,
  target: string | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<HttpAnswer<string | Uint8Array | Streamed>> => {
  const isReading = isRead(incoming) && !isCompatPath(target ?? "");
  const leave = isReading ? undefined : context.world.callers.enter();
  const holds: Hold[] = [];
  let who: string | undefined;
  const onCaller = (caller: Caller): void => {
    record.onCaller(caller);
    if (who === undefined) holds.push(context.takeRequest(caller));
    who = getSlotOwner(caller);
  };
  const hold = (bytes: number) => void holds.push(context.takeBytes(who ?? "", bytes));
  try {
    const answer = await answerRequest({ ...context, onCaller, hold }, record, target, incoming);
    // An unread response stays in memory. The server refuses only reads for that reason, because a client can repeat a read.
    if (isRead(incoming) && typeof answer.body === "string" && answer.body.length > SMALL_BYTES)
      outgoing.once("close", context.takeBytes(who ?? "", answer.body.length).giveBack);
    return answer;
  } finally {
    for (const one of holds) one.giveBack();
    leave?.();
  }
};

/** A read asks no mail server, so following a job by GET does not slow the job down. A call at /compat is never a read. */
const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

type RequestContext = ServerContext &
  Required<Pick<HttpRequest, "onCaller">> & {
    /** Reserves these bytes until the response is known. Throws when the share is used. */
    readonly hold: (bytes: number) => void;
  };

const answerRequest = async (
  context: RequestContext,
  record: RequestRecord,
  target: string | undefined,
  incoming: IncomingMessage,
): Promise<HttpAnswer<string | Uint8Array | Streamed>> => {
  const { world, site, baseUrl, route, onCaller, hold } = context;
  if (target === undefined) throw createOutsideError(site);
  const [rawPath = "", search = ""] = target.split(/\?(.*)/s, 2);
  const request = {
    id: record.id,
    baseUrl,
    method: incoming.method ?? "",
    rawPath,
    search,
    headers: joinHeaders(incoming),
    clientIp: getClientIp(site, incoming),
    body: (bytesMax: number) => readBody(incoming, bytesMax, hold),
    bytes: () => readUpTo(BODY_BYTES_MAX, incoming, () => bodyTooLarge(BODY_BYTES_MAX), hold),
    onCaller,
  };
  for (const one of context.answerers) {
    record.route = one.route;
    const found = await one.answer(request);
    if (found) return found;
  }
  record.route = null;
  const { endpoint, path, movedTo } = route(request.method, rawPath);
  record.route = endpoint.route;
  if (movedTo !== undefined) return permanentRedirect(site.basePath + movedTo, search);
  return respond(world, endpoint, {
    ...request,
    path,
    query: parseQuery(search),
    bytes: (form) =>
      readUpTo(
        FORM_BYTES_MAX,
        incoming,
        () => formTooLarge(FORM_BYTES_MAX),
        form === "gathered" ? hold : undefined,
      ),
    acquireDownload: context.beginDownload,
  });
};

/**
 * Path and query. A proxy may send the absolute form (RFC 9112 §3.2.2). Not by `new URL`: it reads the start of
 * //host/path as a host name.
 */
const getTarget = ({ url = "" }: IncomingMessage): string => url.replace(/^https?:\/\/[^/?]*/i, "");

const readBody = async (
  incoming: IncomingMessage,
  bytesMax: number,
  hold: (bytes: number) => void,
): Promise<unknown> => {
  const chunks: Buffer[] = [];
  const assertCheap = createJsonGuard();
  const contentType = incoming.headersDistinct["content-type"]?.join(",");
  for await (const chunk of readUpTo(bytesMax, incoming, () => bodyTooLarge(bytesMax), hold)) {
    assertJsonType(contentType);
    assertCheap(chunk);
    chunks.push(chunk);
  }
  if (chunks.length === 0) return undefined;
  return parseJson(Buffer.concat(chunks));
};

/** A repeated header is joined by a comma, as a parameter is. Node keeps only the first of some headers, and joins others with a comma and a space. */
const joinHeaders = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(",")]),
  );
