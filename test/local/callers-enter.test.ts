import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createApiServer } from "@mailproof/local/server/server";
import { expect, onTestFinished, test } from "vitest";
import { given } from "../app/given.ts";

const whenServing = async () => {
  const { world } = await given();
  const seen: string[] = [];
  const enter = () => {
    seen.push("enters");
    return () => void seen.push("leaves");
  };
  const log = () => undefined;
  const yieldToCallers = () => undefined;
  const callers = { enter, yieldToCallers };
  const listening = createApiServer({ ...world, callers, log }, () => undefined).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  return { seen, base: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` };
};

test.each([
  ["is refused", "/v1/verify"],
  ["leads nowhere", "/nowhere"],
])("a caller whose request %s enters and leaves", async (_, path) => {
  const { seen, base } = await whenServing();

  await (await fetch(base + path, { method: "POST" })).text();

  expect(seen).toEqual(["enters", "leaves"]);
});

test.each([
  ["a read", "GET", "/v1/jobs"],
  ["an upload", "PUT", "/blobs/nothing"],
])("%s is no caller: lists continue at full speed beside it", async (_, method, path) => {
  const { seen, base } = await whenServing();

  await (await fetch(base + path, { method })).text();

  expect(seen).toEqual([]);
});
