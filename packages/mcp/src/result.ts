import { isObject } from "@mailproof/api/http/parse";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Tool } from "./tools.ts";

/** About 25,000 tokens: the most that common clients pass to a model. */
const CHARACTERS_MAX = 100_000;
const TEXT_MAX = 1_000;
const ENTRIES_MAX = 50;

type JsonBody = Readonly<Record<string, unknown>>;

/** Builds a result for a model: the data or the error, each also as text for clients that pass on only text. */
export const toToolResult = (
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
