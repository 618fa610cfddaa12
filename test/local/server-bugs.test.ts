import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { endpoint } from "@mailproof/api/http/endpoint";
import { createApiServer } from "@mailproof/local/server/server";
import * as v from "valibot";
import { expect, onTestFinished, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { whenListening } from "../servers/listening.ts";

// What a client learns about its money when a bug is outside of respond().

/** Charges, and returns a header that Node refuses to write. */
const paidEndpoint = endpoint({
  id: "samplePaid",
  route: "POST /v1/sample/paid",
  tag: "Service",
  tool: null,
  summary: "Charge.",
  price: "1 credit.",
  access: "verification:write",
  needs: [],
  answers: [200],
  errors: [],
  output: v.unknown(),

  handle: async () => ({ status: 200, headers: { "x-broken": "two\nlines" }, data: {} }),
});

test("a response that cannot be written leaves the charge unknown", async () => {
  const { port, liveKey, logged } = await whenListening(paidEndpoint);

  const response = await fetch(`http://127.0.0.1:${port}/v1/sample/paid`, {
    method: "POST",
    headers: { "x-api-key": liveKey },
  });

  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { code: "INTERNAL", money: "unknown" } });
  expect(logged.map(({ event }) => event)).toEqual(["failure"]);
});

test("an upload that the disk fails charges nothing", async () => {
  const { world } = givenWorld();
  const blobs = { ...world.blobs, put: () => Promise.reject(new Error("no space left")) };
  const server = createApiServer({ ...world, blobs }, (_method, key) => ({
    method: "PUT",
    key,
    bytesMax: 1_000,
  })).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const response = await fetch(`http://127.0.0.1:${port}/blobs/uploads/list.csv`, {
    method: "PUT",
    body: "a@b.c",
  });

  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { money: "nothing_charged" } });
});
