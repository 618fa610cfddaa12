import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { endpoints } from "@mailproof/api/endpoints";
import { readEnvironment } from "@mailproof/local/environment";
import { CONNECTION_LIMITS } from "@mailproof/local/server/connections";
import { createApiServer } from "@mailproof/local/server/server";
import { createSite } from "@mailproof/local/server/site";
import { expect, onTestFinished, test } from "vitest";
import { given } from "../app/given.ts";
import { createFolder, spawnMailproof, whenStarted } from "../servers/running.ts";

const startAt = async (settings: Record<string, string>) => {
  const { world } = await given();
  const site = createSite(readEnvironment(settings));
  const server = createApiServer(world, () => undefined, endpoints, CONNECTION_LIMITS, { site });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { origin: `http://127.0.0.1:${port}` };
};

test("every route, document and tool answers below a base path, and none outside of it", async () => {
  const { origin } = await startAt({ BASE_PATH: "/mail/proof" });
  const status = async (path: string, init = {}) => (await fetch(origin + path, init)).status;

  expect(await status("/mail/proof/health")).toBe(200);
  expect(await status("/mail/proof")).toBe(200);
  expect(await status("/mail/proof/docs")).toBe(200);
  expect(await status("/mail/proof/mcp", { method: "POST" })).toBe(401);
  expect(await status("/health")).toBe(404);
  expect(await status("/mail/proofs/health")).toBe(404);
  expect(await (await fetch(`${origin}/health`)).json()).toMatchObject({
    error: { code: "NOT_FOUND", message: expect.stringContaining("below /mail/proof") },
  });
});

test("every link of the documents stays below the base path", async () => {
  const { origin } = await startAt({ BASE_PATH: "/mp" });
  const read = async (path: string) =>
    (await fetch(`${origin}/mp${path}`, { headers: { accept: "text/html" } })).text();

  for (const path of ["/", "/docs"]) {
    const links = [...(await read(path)).matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, to]) => to);
    expect(links.length).toBeGreaterThan(1);
    expect(links.filter((to) => !to?.startsWith("/mp/"))).toEqual([]);
  }
  expect(JSON.parse(await read("/openapi.json"))).toMatchObject({
    servers: [{ url: `${origin}/mp` }],
  });
});

test("a redirect to the path without a slash keeps the base path", async () => {
  const { origin } = await startAt({ BASE_PATH: "/mp" });

  const answer = await fetch(`${origin}/mp/v1/account/`, { redirect: "manual" });

  expect(answer.headers.get("location")).toBe("/mp/v1/account");
});

test.each([
  ["PUBLIC_URL", { PUBLIC_URL: "https://mail.example.com/" }, "https://mail.example.com"],
  ["the local address without PUBLIC_URL", {}, null],
  ["the local address behind a trusted proxy", { TRUST_PROXY: "127.0.0.1" }, null],
])("the documents contain %s, whatever a request's headers state", async (_, settings, named) => {
  const { origin } = await startAt(settings);
  const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "api.example.com" };

  const document = await (await fetch(`${origin}/openapi.json`, { headers })).json();

  expect(document).toMatchObject({ servers: [{ url: named ?? origin }] });
});

test.each([
  [{ HOST: "localhost" }, "HOST must be an IP address"],
  [{ HOST: "" }, "HOST must be an IP address"],
  [{ BASE_PATH: "mail" }, "BASE_PATH must be a path such as /mailproof"],
  [{ BASE_PATH: "/mail/" }, "BASE_PATH must be a path such as /mailproof"],
  [{ BASE_PATH: "/a/../b" }, "BASE_PATH must not have . or .."],
  [{ TRUST_PROXY: "yes" }, "TRUST_PROXY must be a list of blocks"],
  [{ TRUST_PROXY: "0.0.0.0/0" }, "TRUST_PROXY must not trust every address"],
  [{ BASE_PATH: "/mp", PUBLIC_URL: "https://example.com" }, "PUBLIC_URL must end with BASE_PATH"],
])("the server refuses the settings %j with the faulty setting's name", (settings, message) => {
  expect(() => readEnvironment(settings)).toThrow(message);
});

test("a server for other machines warns that it lacks TLS, and its ready.json and links contain the base path", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder, [], { HOST: "0.0.0.0", BASE_PATH: "/mp" });

  expect(ready.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mp$/);
  expect(ready.mcp_url).toBe(`${ready.base_url}/mcp`);
  const response = await fetch(`${ready.base_url}/v1/verify/file`, {
    method: "POST",
    headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
    body: JSON.stringify({ action: "get_upload_url", file_name: "a.csv" }),
  });
  const { data } = (await response.json()) as { data: { upload_url: string } };
  expect(data.upload_url).toContain("/mp/blobs/");
  expect((await fetch(data.upload_url, { method: "PUT", body: "a@b.c" })).status).toBe(200);
  const { screen } = await stop("SIGTERM");

  expect(screen).toContain("HOST=0.0.0.0");
  expect(screen).toContain("it has no TLS");
});

test("a server start prints the address that this machine lacks", async () => {
  const child = spawnMailproof(["start"], {
    MAILPROOF_DIR: join(createFolder(), "state"),
    HOST: "192.0.2.77",
    PORT: "0",
    REACH_DOMAINS: "",
  });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => (text += part));
  while (child.exitCode === null) await setTimeout(10);

  expect(text).toContain("192.0.2.77 is not an address of this machine.");
  expect(child.exitCode).toBe(1);
});

test("the commands in the documents call the service at its own address", async () => {
  const { origin } = await startAt({ BASE_PATH: "/mp" });
  const read = async (path: string) =>
    (await fetch(`${origin}/mp${path}`, { headers: { accept: "text/html" } })).text();

  for (const path of ["/", "/docs"])
    expect(await read(path)).toMatch(new RegExp(`curl -s '?(?:&#39;)?${origin}/mp/v1/verify`));
});
