import type { Credentials, Headers } from "@mailproof/api/http/authenticate";
import { bodyTooLarge } from "@mailproof/api/http/body";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { isObject } from "@mailproof/api/http/parse";
import {
  asFailure,
  type HttpAnswer,
  type HttpRequest,
  moneyAfterBug,
  refuse,
  respond,
} from "@mailproof/api/http/respond";
import type { AppWorld } from "@mailproof/core/app-world";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { IDEMPOTENCY_KEY, type ToolPage } from "./input.ts";
import type { Tool } from "./tools.ts";

/** About 25,000 tokens: the most that common clients pass to a model. */
const CHARACTERS_MAX = 100_000;
const TEXT_MAX = 1_000;
const ENTRIES_MAX = 50;

type JsonBody = Readonly<Record<string, unknown>>;

/** Builds a result for a model: the data or the error, each also as text for clients that pass on only text. */
const toToolResult = (
  { endpoint }: Tool,
  { statusCode, headers, body }: HttpAnswer<string>,
): CallToolResult => {
  const parsed = JSON.parse(body) as JsonBody;
  if (statusCode >= 400) return toFailedResult(parsed, headers["retry-after"]);
  const data = (
    isObject(parsed["data"]) && parsed["success"] === true ? parsed["data"] : parsed
  ) as JsonBody;
  const _meta = { "mailproof/request_id": headers["x-request-id"] };
  const text = JSON.stringify(data);
  if (text.length <= CHARACTERS_MAX)
    return { content: [{ type: "text", text }], structuredContent: data, _meta };
  const cut = shorten(data);
  const note = `Shortened: text to ${TEXT_MAX} characters, lists to ${ENTRIES_MAX} entries. ${endpoint.route} returns all of it.`;
  return {
    content: [note, JSON.stringify(cut)].map((one) => ({ type: "text", text: one })),
    structuredContent: { ...cut, shortened: true },
    _meta,
  };
};

const toFailedResult = (parsed: JsonBody, retryAfter: string | undefined): CallToolResult => {
  const { code, message, details } = parsed["error"] as JsonBody;
  const wait = retryAfter && `Retry after ${retryAfter} s.`;
  const more = details !== undefined && JSON.stringify(details);
  const text = [`${code as string}: ${message as string}`, wait, more].filter(Boolean).join("\n");
  const { error, request_id } = parsed;
  return {
    content: [{ type: "text", text }],
    structuredContent: { error, request_id },
    isError: true,
  };
};

const shorten = (data: JsonBody): JsonBody =>
  JSON.parse(JSON.stringify(data), (_name, value: unknown) => {
    if (typeof value === "string" && value.length > TEXT_MAX) return `${value.slice(0, TEXT_MAX)}…`;
    return Array.isArray(value) ? (value.slice(0, ENTRIES_MAX) as unknown[]) : value;
  }) as JsonBody;

export type ToolArguments = Readonly<Record<string, unknown>>;

/** A tool call is an ordinary request: the same key, scope, rate limit, charge and repeat. */
export const call = async (
  world: AppWorld,
  tool: Tool,
  args: ToolArguments,
  credentials: Credentials,
  baseUrl: string,
): Promise<CallToolResult> => {
  const { endpoint } = tool;
  const ids = { id: world.newId("req"), baseUrl };
  try {
    const request = toRequest(ids, tool, args, credentials);
    return toToolResult(tool, await toJsonAnswer(await respond(world, endpoint, request)));
  } catch (error) {
    // Otherwise the caller would show the bug's own message, without the money sentence.
    return toToolResult(tool, refuse(world, ids, asFailure(error, moneyAfterBug(endpoint))));
  }
};

const toRequest = (
  ids: Pick<HttpRequest, "id" | "baseUrl">,
  { input, endpoint }: Tool,
  args: ToolArguments,
  credentials: Credentials,
): HttpRequest => {
  const { [IDEMPOTENCY_KEY]: _, ...fields } = args;
  const inAddress = [...input.path, ...input.query];
  const sent = Object.entries(endpoint.keyed ? fields : args).filter(
    ([name, value]) => value !== null || !inAddress.includes(name),
  );
  const selectPart = (names: readonly string[]) => sent.filter(([name]) => names.includes(name));
  const others = sent.filter(([name]) => !input.path.includes(name) && !input.query.includes(name));
  const query = { ...toTexts(selectPart(input.query)), ...readLimit(input.page, args) };
  return {
    ...ids,
    headers: { ...credentials.headers, ...toKeyHeader(endpoint, args) },
    clientIp: credentials.clientIp,
    // A path has no empty part, so an empty value means a missing field.
    path: toTexts(selectPart(input.path).filter(([, value]) => value !== "")),
    // The route refuses an unknown field, with or without a body.
    query: endpoint.body ? query : { ...query, ...toTexts(others) },
    body: async (bytesMax) => {
      const fields = Object.fromEntries(others);
      if (Buffer.byteLength(JSON.stringify(fields)) > bytesMax) throw bodyTooLarge(bytesMax);
      return fields;
    },
    bytes: () => {
      throw new Error("a tool call has no form");
    },
  };
};

export const toKeyHeader = (
  { keyed }: Pick<Endpoint, "keyed">,
  { [IDEMPOTENCY_KEY]: key }: ToolArguments,
): Headers => (keyed && key !== undefined ? { "idempotency-key": toKey(key) } : {});

/** Models send null for a missing field: as text, null would be one key for all their calls. */
const toKey = (key: unknown): string => (typeof key === "string" ? key : NO_KEY);

const NO_KEY = "";

const readLimit = (page: ToolPage | null, args: ToolArguments) => {
  if (page === null) return null;
  // Converts to text, because an object's own toString would run, and may be no function.
  const limit = toText(args["limit"] ?? page.default);
  return { limit: Number(limit) > page.most ? String(page.most) : limit };
};

const toTexts = (fields: readonly (readonly [string, unknown])[]): Record<string, string> =>
  Object.fromEntries(fields.map(([name, value]) => [name, toText(value)]));

/** No path or query field accepts a list or an object; serializing a deep object would fail. */
const toText = (value: unknown): string => {
  if (typeof value === "string") return value.toWellFormed();
  return typeof value === "object" && value !== null ? "{}" : JSON.stringify(value);
};

/** A conversation gets a link to a file, and not the file. */
const toJsonAnswer = async (answer: HttpAnswer): Promise<HttpAnswer<string>> => {
  const { body } = answer;
  if (typeof body === "string") return { ...answer, body };
  await body.stream[Symbol.asyncIterator]().return?.();
  const data = { download_url: await body.elsewhere() };
  return { ...answer, body: JSON.stringify({ success: true, data }) };
};
