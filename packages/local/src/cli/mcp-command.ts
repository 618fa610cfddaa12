import { createInterface } from "node:readline";
import * as v from "valibot";
import { defineCommand, describeOption, Flag } from "./define-command.ts";
import { requireService, SERVICE } from "./service.ts";

// The tools of a service for a client that starts a program: each line is a message, which the command sends to /mcp and answers in a line.

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

type Message = {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
};

type Send = (text: string) => Promise<string>;

/** Headers that the protocol needs over HTTP in addition to the message. Since 2026-07-28 a message carries its version itself. */
const toHeaders = ({ method, params }: Message, negotiated: string | undefined) => {
  const own = params?._meta?.[VERSION_KEY];
  if (typeof own !== "string")
    return { ...(negotiated !== undefined && { "mcp-protocol-version": negotiated }) };
  return {
    "mcp-protocol-version": own,
    ...(method !== undefined && { "mcp-method": method }),
    ...(params?.name !== undefined && { "mcp-name": params.name }),
  };
};

/** An answer may come as an event stream: its messages are the data lines. */
const toLines = (type: string, text: string): readonly string[] =>
  type.startsWith("text/event-stream")
    ? text.split(/\r?\n/).flatMap((line) => /^data: ?(.+)$/.exec(line)?.[1] ?? [])
    : text.trim() === ""
      ? []
      : [text.trim()];

const describeRefusal = (text: string, status: number): string => {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } };
    return error?.message ?? `The service responded with ${status}.`;
  } catch {
    return `The service responded with ${status}.`;
  }
};

const createSend = (url: string, key: string): Send => {
  let negotiated: string | undefined;
  return async (text) => {
    const message = JSON.parse(text) as Message;
    const refuse = (reason: string): string =>
      message.id === undefined
        ? ""
        : JSON.stringify({
            jsonrpc: "2.0",
            id: message.id,
            error: { code: -32_000, message: reason },
          });
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${key}`,
        ...toHeaders(message, negotiated),
      },
      body: text,
    }).catch((error: Error) => error);
    if (response instanceof Error)
      return refuse(
        `No response from ${url}. If the call has a price, repeat it with the same idempotency_key.`,
      );
    const body = await response.text();
    const lines = toLines(response.headers.get("content-type") ?? "", body);
    const isAnswer = lines.some((line) => line.includes('"jsonrpc"'));
    if (!response.ok && !isAnswer) return refuse(describeRefusal(body, response.status));
    if (message.method === "initialize")
      negotiated = (JSON.parse(lines.at(-1) ?? "{}") as { result?: { protocolVersion?: string } })
        .result?.protocolVersion;
    return lines.join("\n");
  };
};

const NOT_JSON = JSON.stringify({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_700, message: "The line is not a JSON message." },
});

export const mcpCommand = defineCommand({
  options: v.strictObject({
    "all-tools": describeOption(Flag, "lists every tool, and not only the usual ones"),
    ...SERVICE,
  }),
  examples: ["mcp", "mcp --all-tools --profile work"],
  async run(input) {
    const { url, key } = requireService(input);
    const query = input.options["all-tools"] ? "?tools=all" : "";
    const send = createSend(`${url.replace(/\/$/, "")}/mcp${query}`, key);
    const underWay = new Set<Promise<void>>();
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === "") continue;
      const answered = send(line)
        .catch(() => NOT_JSON)
        .then((answer) => {
          if (answer !== "") process.stdout.write(`${answer}\n`);
          underWay.delete(answered);
        });
      underWay.add(answered);
      // Later messages need the protocol version that this answer settles.
      if (line.includes('"initialize"')) await answered;
    }
    await Promise.all(underWay);
    return 0;
  },
});
