import {
  assertMay,
  assertNoVisitor,
  authenticate,
  type Credentials,
  type Headers,
} from "@mailproof/api/http/authenticate";
import { getBodyBytesMax } from "@mailproof/api/http/body";
import type { Caller, Endpoint } from "@mailproof/api/http/endpoint";
import { createMethodFailure, orUnavailable, withOutcome } from "@mailproof/api/http/http-failure";
import { adjustForRepeat } from "@mailproof/api/http/idempotency";
import { invalidField, isObject } from "@mailproof/api/http/parse";
import { takeRequest } from "@mailproof/api/http/rate-limit";
import {
  answer,
  asFailure,
  type HttpAnswer,
  type HttpRequest,
  refuse,
} from "@mailproof/api/http/respond";
import type { AppWorld } from "@mailproof/core/app-world";
import { Failure } from "@mailproof/core/lib/failure";
import {
  createMcpHandler,
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import { call, type ToolArguments, toKeyHeader } from "./call.ts";
import { assertOrigin, MCP_PATH } from "./origin.ts";
import { findTool, listTools, type Tool, tools } from "./tools.ts";

type PromptDefinition = Prompt & {
  readonly write: (values: Readonly<Record<string, string>>) => string;
};

const DEFINITIONS: readonly PromptDefinition[] = [
  {
    name: "clean_list",
    title: "Clean a list of addresses",
    description:
      "Verifies a list, and says which addresses to keep, to remove, and to look at again.",
    arguments: [
      {
        name: "addresses",
        description: "The addresses, one a line or with commas.",
        required: true,
      },
      { name: "purpose", description: "What the list is for, such as a newsletter." },
    ],
    write: ({ addresses = "", purpose }) =>
      `Clean this list of email addresses${purpose ? ` for ${purpose}` : ""}.

1. Call get_account, and say what the list costs: a credit for each different address. Stop and ask if the balance is too low.
2. Call verify_batch with all addresses, up to 10,000 at a time, and an idempotency_key of your own. If you get no response, repeat the call with the same key: it is charged once.
3. Call get_job with the job_id and include_results false until status is completed, with growing pauses. Rows that are deferred may take 40 minutes; cancel_job ends the job early and refunds them.
4. Read the results with get_job and its cursor, and sort them:
   - keep: valid
   - remove: invalid, disposable, spam_trap
   - decide with the person: risky, catch_all, role
   - verify again tomorrow: unknown. It says nothing about the address.
5. Answer with the number in each group, the addresses to remove with their reasons, likely corrections from did_you_mean, and the credits that were used.

The addresses:

${addresses}`,
  },
];

const listPrompts = (): readonly Prompt[] =>
  DEFINITIONS.map(({ name, title = name, description = "", arguments: values = [] }) => ({
    name,
    title,
    description,
    arguments: values,
  }));

const getPrompt = (
  name: string,
  values: Readonly<Record<string, string>> = {},
): GetPromptResult => {
  const found = DEFINITIONS.find((one) => one.name === name);
  const missing = found?.arguments?.find((one) => one.required && !values[one.name]?.trim());
  if (!found || missing)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      missing ? `${missing.name} is required.` : `Unknown prompt ${JSON.stringify(name)}.`,
    );
  const { description = "", write } = found;
  return {
    description,
    messages: [{ role: "user", content: { type: "text", text: write(values) } }],
  };
};

export type McpRequest = Pick<
  HttpRequest,
  "query" | "id" | "baseUrl" | "headers" | "clientIp" | "body" | "onCaller"
> & {
  readonly method: string;
};

export type AnswerMcp = (request: McpRequest) => Promise<HttpAnswer<string>>;

/** The MCP endpoint (streamable HTTP): one message in, one response out, and no session state. */
export const createMcp = (world: AppWorld): AnswerMcp => {
  const handler = createMcpHandler(({ requestInfo }) => createMcpServer(world, requestInfo), {
    onerror: (cause) => world.log("mcp_refused", { cause }),
  });

  return async (request) => {
    const { id, method, headers, clientIp } = request;
    const allowance: Record<string, string> = {};
    try {
      if (method !== "POST") throw createMethodFailure(method, "POST");
      assertOrigin(world, headers["origin"]);
      // An earlier call with the same key may have been charged, and this call was not looked up yet.
      const caller = await orUnavailable(
        authenticate(world, { headers, clientIp }),
        "retry_same_key",
      );
      assertNoVisitor(caller);
      admit(request, caller);
      const message = await request.body(MESSAGE_BYTES_MAX);
      if (!isObject(message)) throw invalidField("body", "must be one JSON-RPC message");
      const tool = findCalledTool(message);
      if (tool)
        await assertScope(world, caller, tool.endpoint, allowance).catch(
          toCallRefusal(tool, message),
        );

      const search = request.query["tools"] === ALL ? `?tools=${ALL}` : "";
      const sent = new Request(`${request.baseUrl}${MCP_PATH}${search}`, {
        method,
        headers: toHeaderPairs({ ...headers, [CLIENT_IP]: clientIp }),
      });
      const response = await handler.fetch(sent, { parsedBody: message });
      const type = response.headers.get("content-type");
      return answer(
        id,
        response.status,
        type ? { "content-type": type } : {},
        await response.text(),
      );
    } catch (error) {
      // A failure states its own money; after a bug the charge is unknown.
      return refuse(world, request, asFailure(error, "unknown"), allowance);
    }
  };
};

/** The refusal comes before the message is read, so the message may repeat a paid call under the same key. */
const admit = ({ onCaller }: McpRequest, caller: Caller): void => {
  try {
    onCaller?.(caller);
  } catch (refusal) {
    throw refusal instanceof Failure ? withOutcome(refusal, "retry_same_key") : refusal;
  }
};

/** The largest body of any tool. The size limit of its own operation then applies to a call. */
const MESSAGE_BYTES_MAX = Math.max(...tools.map(({ endpoint }) => getBodyBytesMax(endpoint)));

/** `/mcp?tools=all` lists every tool. Both lists allow every call. */
const ALL = "all";

const INSTRUCTIONS =
  "Verifies email addresses and checks how domains are set up to send mail. Calls with a price cost credits: give each call that takes one its own idempotency_key, and repeat it with the same key if you got no response. Every failure states what happened to the credits. get_account returns the balance. The usual tools are listed; the address with ?tools=all lists those for activity, monitors, webhooks and keys, too.";

const createMcpServer = (world: AppWorld, sent: Request | undefined): Server => {
  const server = new Server(
    { name: "mailproof", title: "Mailproof", version: world.settings.version },
    { capabilities: { tools: {}, prompts: {} }, instructions: INSTRUCTIONS },
  );
  const isAll = sent !== undefined && new URL(sent.url).searchParams.get("tools") === ALL;
  server.setRequestHandler("tools/list", () => ({
    tools: listTools(isAll).map(({ listed }) => listed),
  }));
  server.setRequestHandler("prompts/list", () => ({ prompts: [...listPrompts()] }));
  server.setRequestHandler("prompts/get", ({ params }) =>
    getPrompt(params.name, params.arguments as Readonly<Record<string, string>> | undefined),
  );
  server.setRequestHandler("tools/call", ({ params }) => {
    const tool = findTool(params.name);
    if (!tool)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool ${JSON.stringify(params.name)}.`,
      );
    return call(world, tool, params.arguments ?? {}, readCredentials(sent), getBaseUrl(sent));
  });
  return server;
};

/** The SDK passes on only the request, whose URL was made from the base URL. */
const getBaseUrl = ({ url }: { readonly url: string } = { url: "" }): string =>
  url.slice(0, Math.max(0, url.lastIndexOf(MCP_PATH)));

/** Other headers do not belong to the call: an Idempotency-Key header would apply to every tool. */
const readCredentials = (sent: Request | undefined): Credentials => {
  const readHeader = (name: string) => sent?.headers.get(name) ?? undefined;
  const headers = {
    "x-api-key": readHeader("x-api-key"),
    authorization: readHeader("authorization"),
  };
  return { headers, clientIp: readHeader(CLIENT_IP) };
};

/** The endpoint sets this header itself, and drops a client's. */
const CLIENT_IP = "x-mailproof-client-ip";

const findCalledTool = (message: object) => {
  const { method, params } = message as { readonly method?: unknown; readonly params?: unknown };
  if (method !== "tools/call" || !isObject(params)) return undefined;
  return findTool((params as { readonly name?: unknown }).name);
};

const toHeaderPairs = (headers: Headers): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

/**
 * Reports a missing scope of a token in HTTP, so that the client can request it (MCP, step-up authorization). The call counts against the
 * rate limit, as on its route.
 */
const assertScope = async (
  world: AppWorld,
  caller: Caller,
  endpoint: Endpoint,
  allowance: Record<string, string>,
): Promise<void> => {
  if (caller.credential !== "token" || endpoint.access === "unrestricted") return;
  try {
    assertMay(world, caller, endpoint);
  } catch (refusal) {
    await takeRequest(world, caller, allowance, null);
    throw refusal;
  }
};

/** Throws the failure of a call that may be a repeat under its idempotency_key, as its route reports it. */
const toCallRefusal =
  ({ endpoint }: Tool, { params }: { readonly params?: unknown }) =>
  (error: unknown): never => {
    const { arguments: args } = params as { readonly arguments?: unknown };
    const headers = isObject(args) ? toKeyHeader(endpoint, args as ToolArguments) : {};
    throw error instanceof Failure ? adjustForRepeat(error, endpoint, headers, false) : error;
  };
