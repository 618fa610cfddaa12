import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@mailproof/client/client";
import { SYSTEM_CLOCK } from "@mailproof/client/clock";
import type { ClientOptions } from "@mailproof/client/options";
import { type OpenedAccount, openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { onTestFinished } from "vitest";
import { serveFile } from "./running.ts";

/** Waits, but never long. */
const HURRIED = {
  sleep: (ms: number, signal?: AbortSignal) => SYSTEM_CLOCK.sleep(Math.min(ms, 20), signal),
  random: () => 0,
};

/** A real server in its own process for the tests of a file, and for each of them an account and a client of it. */
export const serveAccounts = () => {
  const { folder, server } = serveFile();
  return async (options: Partial<ClientOptions> = {}) => {
    const { ready } = await server;
    return createServed(ready.base_url, await openDemoAccount(folder), options);
  };
};

const openDemoAccount = async (folder: string) => {
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  try {
    return await openAccount(world, { name: "A", plan: "scale", opening: credits(1_000_000) });
  } finally {
    close();
  }
};

const createServed = (
  baseUrl: string,
  { liveKey: key, testKey }: OpenedAccount,
  options: Partial<ClientOptions>,
) => {
  const createServedClient = (more: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl, key, ...options, ...more }, HURRIED);
  const client = createServedClient();
  const spent = async () => {
    const { credits } = await client.getAccount();
    return credits.spent + credits.held;
  };
  return { client, clientWith: createServedClient, spent, baseUrl, liveKey: key, testKey };
};

type Seen = { readonly route: string; readonly key: string | undefined };

/**
 * Something between a client and the server that lets every request through, and lets the answers of some of them
 * fall: the connection breaks when the work is done.
 */
export const whenLosing = async (
  baseUrl: string,
  isDropped: (call: Seen, before: readonly Seen[]) => boolean | Promise<boolean>,
) => {
  const seen: Seen[] = [];
  const forwardRequest = async (
    shouldDrop: boolean | Promise<boolean>,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ) => {
    const isGone = await shouldDrop;
    const { method, headers, url } = incoming;
    const onward = request(new URL(url ?? "", baseUrl), { method, headers }, (answer) => {
      if (isGone) return void answer.resume().once("end", () => incoming.socket.destroy());
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once("error", () => incoming.socket.destroy());
    incoming.pipe(onward);
  };
  const proxy = createServer((incoming: IncomingMessage, outgoing) => {
    const route = `${incoming.method} ${incoming.url?.split("?")[0]}`;
    const call = { route, key: incoming.headers["idempotency-key"] as string | undefined };
    const shouldDrop = isDropped(call, [...seen]);
    seen.push(call);
    void forwardRequest(shouldDrop, incoming, outgoing);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  await once(proxy, "listening");
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, seen };
};
