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

test("a preflight allows our methods and headers to any page", async () => {
  const { status, headers } = await whenRequested("/v1/api-keys", {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
  });

  expect(status).toBe(204);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, DELETE, OPTIONS");
  expect(headers.get("access-control-allow-headers")).toContain("idempotency-key");
});

test("a refusal allows a page to read its status, request id and rate limit headers", async () => {
  const { status, headers } = await whenRequested("/v1/account", { method: "GET" });

  expect(status).toBe(401);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
});

test("a response never allows a page to send cookies", async () => {
  const { headers } = await whenRequested("/health", { method: "GET" });

  expect(headers.get("access-control-allow-credentials")).toBeNull();
});
