import { gzipSync } from "node:zlib";
import { endpoints } from "@mailproof/api/endpoints";
import { createRouter } from "@mailproof/api/http/router";
import type { Example } from "@mailproof/api/openapi/examples";
import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { toUuid } from "@mailproof/core/deliverability/check-once";
import { credits } from "@mailproof/core/money/credits";
import { WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withMessageFates } from "../app/faulty-worlds.ts";
import { givenWorld } from "../app/given.ts";
import { send, whenChecked, whenVerified } from "../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  whenBatched,
  whenFiled,
  whenPut,
} from "../things/jobs.ts";
import { createDailyReport } from "../things/reports.ts";

type RecordedRequest = {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly mode?: "live" | "test";
};

const route = createRouter(endpoints);

/** A shop with ids as they are in real life, and the same each time. */
const givenShop = async (balance = 5_000) => {
  const ctx = givenWorld();
  const world: AppWorld = {
    ...ctx.world,
    newId: (prefix) => `${prefix}_${toUuid(ctx.world.randomBytes(16))}`,
    settings: { ...ctx.world.settings, version: "1.0.0" },
  };
  const opened = await openAccount(world, {
    name: "Ann's Shop",
    plan: "pro",
    opening: credits(balance),
  });
  return { ...ctx, ...opened, world };
};

/** No value in the document may look like a real secret, or link to a file. */
const publishEvent = (text: string): string =>
  text
    .replaceAll(/(mp_(?:live|test|pub)_)[0-9A-Za-z]{28}/g, "$1<shown this once>")
    .replaceAll(/(whsec_)[\w+/=]+/g, "$1<shown this once>")
    .replaceAll(/memory:put\/([^?"]+)\?for=\d+/g, "https://files.example.com/$1?signature=0000");

/** The examples of the document: real requests of a shop, and what the service answered. */
export const recordExamples = async (): Promise<Example[]> => {
  const ctx = await givenShop();
  const { world } = ctx;
  const response: Example[] = [];

  const ask = async (
    title: string,
    what: string,
    requestOptions: RecordedRequest = {},
  ): Promise<any> => {
    const { query, body, mode = "live" } = requestOptions;
    const key = mode === "live" ? ctx.liveKey : ctx.testKey;
    const [method = "", path = ""] = what.split(" ");
    const { endpoint, path: parameters } = route(method, path);
    const { statusCode, text } = await send(world, what, {
      key,
      ...(query && { query }),
      ...(body !== undefined && { body }),
    });
    const nth = response.filter((one) => one.route === endpoint.route).length + 1;
    const answer: any = JSON.parse(publishEvent(text));
    response.push({
      route: endpoint.route,
      name: `${endpoint.id}${nth === 1 ? "" : nth}`,
      title,
      path: parameters,
      query: query ?? {},
      ...(body !== undefined && { request: body }),
      status: statusCode,
      answer,
    });
    return JSON.parse(text).data;
  };

  await ask("Healthy", "GET /health");
  await ask("The keys of each year", "GET /.well-known/jwks.json");
  await ask("Plans, packs and prices", "GET /v1/catalog");
  await ask("A disposable domain", "GET /v1/listings/mailinator.com");
  await recordVerifications(ask, ctx);
  await recordChecks(ask, ctx);
  await recordSubscriptions(ask, ctx);
  await recordManagement(ask);
  return response;
};

/** What arrives at a webhook: one of each event. */
export const recordEvents = async (): Promise<Record<string, unknown>> => {
  const bodies = [...(await recordBadDay()), ...(await recordOrdinaryDay())];
  return Object.fromEntries(bodies.toReversed().map((body) => [body.type, body]));
};

const whenSubscribed = async ({ world }: TestContext, key: string): Promise<string> => {
  const body = { url: "https://hooks.example.com/mailproof", events: WEBHOOK_EVENT_TYPES };
  const { data } = await send(world, "POST /v1/webhooks", { key, body });
  return data.id;
};

const recordRoute = async (ctx: TestContext): Promise<any[]> => {
  for (let minute = 0; minute < 5; minute++) {
    await whenWorked(ctx);
    ctx.later(60_000);
    await whenReconciled(ctx);
  }
  return ctx.servers.received.map(({ body }): unknown => JSON.parse(body ?? "{}"));
};

const recordOrdinaryDay = async (): Promise<any[]> => {
  const ctx = await givenShop(11);
  const { world, liveKey, testKey } = ctx;
  for (const key of [liveKey, testKey]) {
    const id = await whenSubscribed(ctx, key);
    await send(world, `POST /v1/webhooks/${id}/test`, { key });
  }
  await whenBatched(world, liveKey, { emails: createEmails(10) });
  await whenVerified(world, liveKey, { email: "ada.lovelace@example.com" });
  for (const domain of ["listed.example", "nodmarc.example"])
    await whenChecked(world, testKey, { domain });
  await send(world, "POST /v1/deliverability/monitors", {
    key: testKey,
    body: { domain: "ready.example" },
  });
  return recordRoute(ctx);
};

/** The queue takes nothing in, so a file's addresses are refunded, and its job comes to nothing. */
const recordBadDay = async (): Promise<any[]> => {
  const ctx = await givenShop();
  const { world, liveKey } = ctx;
  await whenSubscribed(ctx, liveKey);
  const requestOptions = { action: "get_upload_url", file_name: "customers.csv" };
  const { data } = await send(world, "POST /v1/verify/file", {
    key: liveKey,
    body: requestOptions,
  });
  await whenPut(world, data.file_key, formatCsv(createEmails(2)));
  await whenFiled(
    withMessageFates(ctx, () => "refused"),
    liveKey,
    createProcessRequest(data.file_key),
  );
  return recordRoute(ctx);
};

type Ask = (title: string, what: string, requestOptions?: RecordedRequest) => Promise<any>;
type TestContext = Awaited<ReturnType<typeof givenShop>>;

const recordVerifications = async (ask: Ask, ctx: TestContext): Promise<void> => {
  const { world, later } = ctx;
  await ask("An existing mailbox", "POST /v1/verify", {
    body: { email: "ada.lovelace@example.com" },
  });
  await ask("A missing mailbox, with a short timeout", "POST /v1/verify", {
    body: { email: "invalid@example.com", options: { include_ai: false, timeout_ms: 5_000 } },
  });
  await ask("A slow mail server: pending", "POST /v1/verify", {
    body: { email: "slow@example.com", options: { timeout_ms: 1_000 } },
  });
  await ask("An address typed into a form", "POST /v1/verify/form", {
    body: { email: "info@example.com" },
  });
  const { job_id: job } = await ask("A batch with a callback", "POST /v1/verify/batch", {
    body: {
      emails: ["ada.lovelace@example.com", "invalid@example.com", "info@example.com"],
      name: "Newsletter, November",
      webhook_url: "https://hooks.example.com/mailproof",
    },
  });
  const { file_key } = await ask("Step 1: get an upload URL", "POST /v1/verify/file", {
    body: { action: "get_upload_url", file_name: "customers.csv" },
  });
  await whenPut(
    world,
    file_key,
    formatCsv(["ann@example.com", "bo@example.com", "ann@example.com"]),
  );
  const { job_id: list } = await ask("Step 2: process the uploaded file", "POST /v1/verify/file", {
    body: { action: "process", file_key, email_column: "email", has_header: true },
  });
  later(60_000);
  await whenWorked(ctx);
  await ask("The two newest jobs", "GET /v1/jobs", { query: { limit: "2" } });
  await ask("Compare a file with the list that it continues", "POST /v1/verify/file", {
    body: { action: "preview", file_key, continues: list },
  });
  await ask("A completed job with its first two results", `GET /v1/jobs/${job}`, {
    query: { limit: "2" },
  });
  await ask("A row with its evidence", `GET /v1/jobs/${job}/results/2`);
  await ask("Valid addresses as JSON", `GET /v1/jobs/${job}/download`, {
    query: { format: "json", filter: "valid" },
  });
  await ask("A delivered callback", `GET /v1/jobs/${job}/callbacks`);
  await ask("Verify rows with a low score again", `POST /v1/jobs/${job}/again`, {
    body: { filter: "score:0-49", q: "@example.com" },
  });
  const { job_id: started } = await ask("A batch", "POST /v1/verify/batch", {
    body: { emails: ["cy@example.com", "dee@example.com"] },
  });
  await ask("Erase an address of a running job", "DELETE /v1/data", {
    query: { email: "cy@example.com" },
  });
  await ask("Cancel it before it begins", `POST /v1/jobs/${started}/cancel`);
  await ask("Delete it", `DELETE /v1/jobs/${started}`);
  await ask("Found", "POST /v1/find", {
    body: { first_name: "Ada", last_name: "Lovelace", domain: "example.com" },
  });
};

const recordChecks = async (ask: Ask, ctx: TestContext): Promise<void> => {
  const { later } = ctx;
  await ask("An active address", "GET /v1/activity/high@example.com", {
    mode: "test",
  });
  await ask("Two addresses", "POST /v1/activity/batch", {
    mode: "test",
    body: { emails: ["high@example.com", "unknown@example.com"] },
  });
  await ask("A domain with a good reputation", "GET /v1/activity/domain/example.com", {
    mode: "test",
  });
  await ask("A delivery and an open", "POST /v1/activity/events", {
    body: {
      events: [
        {
          id: "mail-4711-delivery",
          type: "delivery",
          email: "ada.lovelace@example.com",
          occurred_at: "2026-11-20T09:00:00Z",
        },
        {
          id: "mail-4711-open",
          type: "open",
          email: "ada.lovelace@example.com",
          occurred_at: "2026-11-20T09:41:07Z",
          user_agent: "Mozilla/5.0",
        },
      ],
    },
  });
  const { check_id } = await ask("A weak configuration", "POST /v1/deliverability/check", {
    mode: "test",
    body: { domain: "weak.example", sending_ip: "192.0.2.1" },
  });
  await ask("The list of checks", "GET /v1/deliverability/checks", { mode: "test" });
  await ask("One check", `GET /v1/deliverability/checks/${check_id}`, { mode: "test" });
  const { test_id } = await ask("An address for one mail", "POST /v1/deliverability/tests", {
    mode: "test",
  });
  later(1_000);
  await whenWorked(ctx);
  await whenWorked(ctx);
  await ask("The list of mail tests", "GET /v1/deliverability/tests", { mode: "test" });
  await ask("A test whose mail arrived", `GET /v1/deliverability/tests/${test_id}`, {
    mode: "test",
  });
  const { monitor_id } = await ask("A weekly monitor", "POST /v1/deliverability/monitors", {
    mode: "test",
    body: { domain: "example.com", interval_hours: 168 },
  });
  later(1_000);
  await ask("The list of monitors", "GET /v1/deliverability/monitors", { mode: "test" });
  const content = gzipSync(createDailyReport({ records: [{ count: 42 }] })).toString("base64");
  await ask("A DMARC report in gzip", "POST /v1/deliverability/reports", {
    mode: "test",
    body: { content },
  });
  await ask("The same report again", "POST /v1/deliverability/reports", {
    mode: "test",
    body: { content },
  });
  await ask("The domains with reports", "GET /v1/deliverability/domains", { mode: "test" });
  await ask("What receivers reported", "GET /v1/deliverability/domains/example.com/reports", {
    mode: "test",
    query: { days: "7" },
  });
  for (const domain of ["unaligned.example", "ready.example"])
    await send(ctx.world, "POST /v1/deliverability/check", { key: ctx.testKey, body: { domain } });
  await ask("A sender that is not aligned", "GET /v1/deliverability/domains/unaligned.example", {
    mode: "test",
  });
  await ask("Ready for a stricter policy", "GET /v1/deliverability/domains/ready.example", {
    mode: "test",
  });
  await ask("Delete the monitor", `DELETE /v1/deliverability/monitors/${monitor_id}`, {
    mode: "test",
  });
};

const recordSubscriptions = async (ask: Ask, ctx: TestContext): Promise<void> => {
  await ask("All events", "GET /v1/webhooks/events");
  const { id } = await ask("Subscribe to job events", "POST /v1/webhooks", {
    body: { url: "https://hooks.example.com/mailproof", events: ["job.completed", "job.failed"] },
  });
  await ask("The list of webhooks", "GET /v1/webhooks");
  await ask("Add credit events", `PUT /v1/webhooks/${id}`, {
    body: { events: ["job.completed", "job.failed", "credits.low"] },
  });
  await ask("A delivered test event", `POST /v1/webhooks/${id}/test`);
  ctx.later(1_000);
  await whenWorked(ctx);
  const { deliveries } = await ask("The list of deliveries", `GET /v1/webhooks/${id}/deliveries`);
  await ask("Retry a delivery", `POST /v1/webhooks/${id}/deliveries/${deliveries[0].id}/retry`);
  await ask("A sample of an event", `POST /v1/webhooks/${id}/test`, {
    query: { event: "credits.low" },
  });
  await ask("Send again what failed", `POST /v1/webhooks/${id}/replay`, {
    query: { since: "2026-11-20T00:00:00Z" },
  });
  await ask("Events from now on", "GET /v1/events");
  await ask("Rotate the secret", `POST /v1/webhooks/${id}/secret`);
  await ask("Delete the webhook", `DELETE /v1/webhooks/${id}`);
};

const recordManagement = async (ask: Ask): Promise<void> => {
  await ask("The account and the key in use", "GET /v1/account");
  await ask("Usage by day", "GET /v1/account/usage", {
    query: { from: "2026-11-01", to: "2026-11-30" },
  });
  await ask("The last movements of credits", "GET /v1/account/ledger", { query: { limit: "2" } });
  await ask("The last request that failed", "GET /v1/requests", {
    query: { limit: "1", status: "4xx" },
  });
  await ask("Erase an address", "DELETE /v1/data", { query: { email: "bo@example.com" } });
  const { key_id } = await ask("A read-only key", "POST /v1/api-keys", {
    body: { name: "Dashboard", mode: "test", scopes: ["verification:read", "account:read"] },
  });
  await ask("A public key for a form", "POST /v1/api-keys", {
    body: {
      name: "Sign-up form",
      mode: "live",
      public: { origins: ["https://www.example.com"], daily_limit: 500 },
    },
  });
  await ask("All keys", "GET /v1/api-keys");
  await ask("Revoke a key", `DELETE /v1/api-keys/${key_id}`);
};
