import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { AppWorld } from "@mailproof/core/app-world";
import { createApiServer } from "@mailproof/local/server/server";
import {
  type AuthProvider,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { type Given, given } from "../app/given.ts";

export type Era = "2025-11-25" | "2026-07-28";

/** Any: a test looks at the parts it is about, and says itself what they should be. */
export type ToolResult = { readonly isError: boolean; readonly data: any; readonly text: string };

/** The address of the real server, in front of this world. */
export const serveMcp = async (world: AppWorld): Promise<string> => {
  const one = createApiServer(world, () => undefined).listen(0, "127.0.0.1");
  onTestFinished(() => {
    one.closeAllConnections();
    one.close();
  });
  await once(one, "listening");
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
};

type How = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly era?: Era;
  readonly authProvider?: AuthProvider | OAuthClientProvider;
};

/** The SDK's own client. */
export const connectClient = async (mcpUrl: string, { headers, era, authProvider }: How) => {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    era === "2026-07-28" ? { versionNegotiation: { mode: "auto" } } : {},
  );
  const transport = new StreamableHTTPClientTransport(new URL(mcpUrl), {
    requestInit: { headers: { ...headers } },
    ...(authProvider && { authProvider }),
  });
  await client.connect(transport);
  onTestFinished(() => client.close());

  const call = async (name: string, args: Record<string, unknown> = {}): Promise<ToolResult> => {
    const {
      isError = false,
      structuredContent,
      content,
    } = await client.callTool({
      name,
      arguments: args,
    });
    const text = content.map((one) => ("text" in one ? one.text : "")).join("\n");
    return { isError, data: structuredContent, text };
  };
  return { client, call };
};

export const createBearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

/** A server with an account, and a client that holds its live key. */
export const givenTools = async (wanted: Given = {}, era: Era = "2025-11-25") => {
  const ctx = await given(wanted);
  const url = `${await serveMcp(ctx.world)}/mcp`;
  return {
    ...ctx,
    url,
    ...(await connectClient(url, { headers: createBearer(ctx.liveKey), era })),
  };
};
