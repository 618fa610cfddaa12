import type { Headers } from "@mailproof/api/http/authenticate";
import { bodyTooLarge } from "@mailproof/api/http/body";
import type { Endpoint, Streamed } from "@mailproof/api/http/endpoint";
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
import { toToolResult } from "./result.ts";
import type { Tool } from "./tools.ts";

export type ToolArguments = Readonly<Record<string, unknown>>;

/** A tool call is a request like any other: the same key, scope, allowance, charge and repeat. */
export const call = async (
  world: AppWorld,
  tool: Tool,
  args: ToolArguments,
  credentials: Headers,
): Promise<CallToolResult> => {
  const { endpoint } = tool;
  const id = world.newId("req");
  try {
    const answer = await respond(world, endpoint, toRequest(id, tool, args, credentials));
    return toToolResult(tool, await toJsonAnswer(answer));
  } catch (error) {
    // Whoever calls us would tell the bug's own words, and nothing of the money.
    return toToolResult(tool, refuse(world, id, asFailure(error, moneyAfterBug(endpoint))));
  }
};

const toRequest = (
  id: string,
  { input, endpoint }: Tool,
  args: ToolArguments,
  credentials: Headers,
): HttpRequest => {
  const { [IDEMPOTENCY_KEY]: _, ...fields } = args;
  const inAddress = [...input.path, ...input.query];
  // An address has no null: there it is as good as left out. Of a body the schema says what null means.
  const sent = Object.entries(endpoint.keyed ? fields : args).filter(
    ([name, value]) => value !== null || !inAddress.includes(name),
  );
  const selectPart = (names: readonly string[]) => sent.filter(([name]) => names.includes(name));
  const others = sent.filter(([name]) => !input.path.includes(name) && !input.query.includes(name));
  const query = { ...toTexts(selectPart(input.query)), ...readLimit(input.page, args) };
  return {
    id,
    headers: { ...credentials, ...toKeyHeader(endpoint, args) },
    // No address has an empty part, so no route is made for one: here it is as good as left out.
    path: toTexts(selectPart(input.path).filter(([, value]) => value !== "")),
    // What belongs nowhere is told to be unknown, where there is no body as where there is one.
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

/** The field of a call that is a header of its request. */
export const toKeyHeader = (
  { keyed }: Pick<Endpoint, "keyed">,
  { [IDEMPOTENCY_KEY]: key }: ToolArguments,
): Headers => (keyed && key !== undefined ? { "idempotency-key": toKey(key) } : {});

/** Models send null for what they mean to leave out: as a text it would be one key for all that they ever do. */
const toKey = (key: unknown): string => (typeof key === "string" ? key : NO_KEY);

const NO_KEY = "";

/** Whoever asks for more than a page is given one, as by the routes. */
const readLimit = (page: ToolPage | null, args: ToolArguments) => {
  const limit = args["limit"] ?? page?.default;
  return page && { limit: Number(limit) > page.most ? String(page.most) : toText(limit) };
};

/** In an address everything is a text. */
const toTexts = (fields: readonly (readonly [string, unknown])[]): Record<string, string> =>
  Object.fromEntries(fields.map(([name, value]) => [name, toText(value)]));

/** A list or an object is none that any field has; written out, a deep one would be a bug of ours. */
const toText = (value: unknown): string => {
  if (typeof value === "string") return value.toWellFormed();
  return typeof value === "object" && value !== null ? "{}" : JSON.stringify(value);
};

/** A file is not told in a conversation. A link to it is. */
const toJsonAnswer = async (answer: HttpAnswer): Promise<HttpAnswer<string>> => {
  const { body } = answer;
  if (typeof body === "string") return { ...answer, body };
  return { ...answer, body: JSON.stringify({ success: true, data: await createLink(body) }) };
};

const createLink = async ({ stream, elsewhere }: Streamed) => {
  await stream[Symbol.asyncIterator]().return?.();
  return { download_url: await elsewhere() };
};
