import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createApiServer } from "@mailproof/local/server/server";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";

const whenRequested = async (path: string, init: RequestInit) => {
  const { world } = givenWorld();
  const listening = createApiServer(world, () => undefined).listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
  listening.close();
  return answer;
};

test("a browser's preflight is allowed our methods and headers, for any page", async () => {
  const { status, headers } = await whenRequested("/v1/api-keys", {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
  });

  expect(status).toBe(204);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, DELETE, OPTIONS");
  expect(headers.get("access-control-allow-headers")).toContain("idempotency-key");
});

test("a page may read a refusal, its request id and its allowance", async () => {
  const { status, headers } = await whenRequested("/v1/account", { method: "GET" });

  expect(status).toBe(401);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
});

test("no answer lets a page send cookies", async () => {
  const { headers } = await whenRequested("/health", { method: "GET" });

  expect(headers.get("access-control-allow-credentials")).toBeNull();
});
