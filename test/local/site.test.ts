import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { endpoints } from "@mailproof/api/endpoints";
import { readHealth } from "@mailproof/api/endpoints/get-health";
import { toReach } from "@mailproof/api/schema/reach";
import type { AppWorld } from "@mailproof/core/app-world";
import { storeReach } from "@mailproof/core/egress/reach";
import { statusPage } from "@mailproof/docs-site/status-page";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { readEnvironment } from "@mailproof/local/environment";
import { CONNECTION_LIMITS } from "@mailproof/local/server/connections";
import { createApiServer } from "@mailproof/local/server/server";
import { createSite, PLAIN_SITE } from "@mailproof/local/server/site";
import { expect, onTestFinished, test } from "vitest";
import { toEvent } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
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
])("the documents contain %s for any request headers", async (_, settings, named) => {
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

const broken = () => Promise.reject(new Error("the disk is gone"));

const whenRead = async (world: AppWorld, site = PLAIN_SITE, path = "/status") => {
  const server = createApiServer(world, () => undefined, endpoints, undefined, { site });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const text = await response.text();
  const rows = [...text.matchAll(/<tr><td[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    row.replaceAll(/<[^>]+>/g, "|").replaceAll(/\s*\|[|\s]*/g, "|"),
  );
  const [, title] = /<h1>(.*?)<\/h1>/.exec(text) ?? [];
  return { response, text, title, rows };
};

test("the status page of a working server shows each part and since when mail servers are reachable", async () => {
  const { world } = await given();
  await storeReach(world, "open");

  const { response, title, rows } = await whenRead(world);

  expect(response.status).toBe(200);
  expect(title).toBe("Mailproof works");
  expect(rows).toEqual([
    "|Verification|works|Addresses and domains are verified.|",
    "|Lists|works|Lists are accepted, verified and returned.|",
    "|Webhooks|works|Events are delivered as they happen.|",
    "|Mail servers|works|Mail servers can be asked. Measured at 2026-11-21 00:00 UTC.|",
  ]);
});

test("the status page of a server without its database answers 200 and states the refused requests", async () => {
  const { world } = await given();
  const table = { ...world.table, get: broken };

  const { response, title, rows } = await whenRead({ ...world, table });

  expect(response.status).toBe(200);
  expect(title).toBe("Some of Mailproof does not work now");
  expect(rows).toEqual([
    "|Verification|down|Requests are refused until the database answers.|",
    "|Lists|down|New lists are refused, and those under way wait.|",
    "|Webhooks|down|Events wait, and are delivered later.|",
    "|Mail servers|not known|It is not known yet whether this server can reach mail servers.|",
  ]);
});

test.each<[string, string, (world: AppWorld) => Promise<Partial<AppWorld>>, string[]]>([
  [
    "unreadable files stop lists only",
    "Some of Mailproof does not work now",
    async ({ blobs }) => ({ blobs: { ...blobs, head: broken } }),
    ["works", "down", "works", "works"],
  ],
  [
    "dead letters delay lists and webhooks",
    "Mailproof works, with limits",
    async ({ queue }) => ({ queue: { ...queue, countDeadLetters: async () => 2 } }),
    ["works", "limited", "limited", "works"],
  ],
  [
    "silent name servers limit look-ups",
    "Mailproof works, with limits",
    async ({ table, now }) => {
      const expires_at = now().getTime() / 1_000 + 60;
      await table.write({ put: { pk: "HEALTH", sk: "DNS", expires_at } });
      return {};
    },
    ["limited", "works", "limited", "works"],
  ],
  [
    "a closed port 25 limits verification",
    "Mailproof works, with limits",
    async (world) => {
      await storeReach(world, "dns_only");
      return {};
    },
    ["limited", "works", "works", "limited"],
  ],
])(
  "the status page shows the right state of each part when %s",
  async (_, heading, breakIt, states) => {
    const { world } = await given();
    await storeReach(world, "open");

    const { title, rows } = await whenRead({ ...world, ...(await breakIt(world)) });

    expect(title).toBe(heading);
    expect(rows.map((row) => row.split("|")[2])).toEqual(states);
  },
);

test("the status page lists the large providers that refuse the server, even without a measured reach", async () => {
  const { world } = await given();
  const health = await readHealth(world);
  const checks = { ...health.checks, mail_providers: "blocked" } as const;
  const reach = toReach({ state: "refused_by", refusedBy: ["icloud"], measuredAt: null });

  expect(statusPage({ ...health, checks, reach }, "")).toContain("but icloud refuses this server");
  const unmeasured = statusPage({ ...health, checks }, "");
  expect(unmeasured).toContain("A large mail provider refuses this server now.");
  expect(unmeasured).toContain("Mailproof works, with limits");
});

test("the status page contains no script, account, version or list and loads only the manual's style", async () => {
  const { world, account, liveKey } = await given();

  const { response, text } = await whenRead(world);

  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src/);
  expect(response.headers.get("content-security-policy")).not.toContain("script-src");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(text).not.toMatch(/<script|<style| style="| on[a-z]+="/);
  const { version } = world.settings;
  for (const secret of ["Ann", account, liveKey, version, world.engine.lists.edition])
    expect(text).not.toContain(secret);
});

test("the status page exists below the base path only, and its links stay below it", async () => {
  const { world } = await given();
  const site = { ...PLAIN_SITE, basePath: "/mailproof" };

  const { response, text } = await whenRead(world, site, "/mailproof/status/");

  expect(response.status).toBe(200);
  const links = [...text.matchAll(/ href="(\/[^"]*)"/g)].map(([, to]) => to);
  expect(links).toEqual(["/mailproof/docs/style.css", "/mailproof/docs", "/mailproof/health"]);
  expect((await whenRead(world, site)).response.status).toBe(404);
});

test("the status page answers GET and HEAD only", async () => {
  const { world } = await given();
  const { response } = await whenRead(world);

  const [head, posted] = await Promise.all(
    ["HEAD", "POST"].map((method) => fetch(response.url, { method })),
  );

  expect([head?.status, await head?.text()]).toEqual([200, ""]);
  expect(posted?.status).toBe(404);
});

test("the status page's address redirects to /health on AWS", async () => {
  const { world } = await given();
  const event = toEvent({ method: "GET", url: "/status" });

  const moved = await createFallbackHandler(world)(event, createContext());

  expect(moved).toMatchObject({ statusCode: 302, headers: { location: "/health" } });
});
