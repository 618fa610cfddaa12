import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostfixWithPolicy, POSTFIX } from "../mail-servers/postfix.ts";
import { findObstacle, type Running, startServer } from "../mail-servers/sandbox.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { HOST } from "../servers/mail-servers.ts";

type PolicyServer = { readonly port: number; readonly stop: () => Promise<void> };

const DELAY_MS = 300_000;

/** A policy service of Postfix that greylists by triplet as postgrey does: five minutes, in postgrey's words. */
const startGreylistPolicy = async (now: () => Date): Promise<PolicyServer> => {
  const seen = new Map<string, number>();
  const actionFor = (request: string): string => {
    const field = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(request)?.[1] ?? "";
    const triplet = ["client_address", "sender", "recipient"].map(field).join(" ");
    const atMs = now().getTime();
    const firstMs = seen.get(triplet) ?? atMs;
    seen.set(triplet, firstMs);
    return atMs - firstMs < DELAY_MS ? "DEFER_IF_PERMIT Greylisted, see you later" : "DUNNO";
  };
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    let unread = "";
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      unread += chunk.toString();
      for (let end = unread.indexOf("\n\n"); end >= 0; end = unread.indexOf("\n\n")) {
        socket.write(`action=${actionFor(unread.slice(0, end))}\n\n`);
        unread = unread.slice(end + 2);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const START_MS = 30_000;
const RETRY_MS = 6 * 60_000;

describeUnless(findObstacle(POSTFIX), "Postfix that greylists as postgrey does", () => {
  let at = Date.now();
  const now = () => new Date(at);
  const table = createSqliteTable(":memory:", now);
  let policy: PolicyServer;
  let server: Running;
  beforeAll(async () => {
    policy = await startGreylistPolicy(now);
    server = await startServer(createPostfixWithPolicy(policy.port));
  }, START_MS);
  afterAll(async () => {
    await server.stop();
    await policy.stop();
    table.close();
  });

  /** Each attempt is its own process, with nothing but the table from the one before. */
  const attempt = async (recipient: string) => {
    const probe = createProbe({
      connect: connectDirectly,
      catchAllCache: createCatchAllCache(table, now),
      now,
      random: Math.random,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      smtp: { helo: "probe.example", from: "probe@probe.example", port: server.port },
    });
    const domain = recipient.split("@")[1] ?? "";
    const hosts = [{ host: "mx.here.test", priority: 0, ips: [HOST] }];
    const { finding, catchAll } = await probe({ recipient, domain, hosts, probeCatchAll: true });
    return `${finding.reason} ${catchAll}`;
  };

  test.each([
    ["knows its people", "ann@here.test", "greylisted undecided", "accepted no"],
    ["accepts everybody", "ann@all.test", "greylisted undecided", "accepted yes"],
    ["has virtual people", "ann@virtual.test", "greylisted undecided", "accepted no"],
  ])(
    "the second attempt at a domain that %s returns the right result",
    async (_, email, first, second) => {
      expect(await attempt(email)).toBe(first);
      at += RETRY_MS;
      expect(await attempt(email)).toBe(second);
    },
  );
});
