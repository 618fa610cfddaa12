import { endpoints } from "@mailproof/api/endpoints";
import { routerOf } from "@mailproof/api/http/router";
import type { Example } from "@mailproof/api/openapi/examples";
import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { uuidOf } from "@mailproof/core/uuid";
import { EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { fated } from "../breaking.ts";
import { whenChecked } from "../checks.ts";
import { givenWorld } from "../given.ts";
import { anns, csvOf, processOf, whenBatched, whenFiled, whenPut } from "../jobs.ts";
import { send, whenVerified } from "../send.ts";
import { whenReconciled, whenWorked } from "../working.ts";

type Asked = {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly mode?: "live" | "test";
};

const route = routerOf(endpoints);

/** A shop with ids as they are in real life, and the same each time. */
const givenShop = async (balance = 5_000) => {
  const house = givenWorld();
  const world: AppWorld = {
    ...house.world,
    newId: (prefix) => `${prefix}_${uuidOf(house.world.randomBytes(16))}`,
    settings: { ...house.world.settings, version: "1.0.0" },
  };
  const opened = await openAccount(world, {
    name: "Ann's Shop",
    plan: "pro",
    opening: credits(balance),
  });
  return { ...house, ...opened, world };
};

/** Nothing in the document is to be taken for somebody's secret, or to lead to a file. */
const published = (text: string): string =>
  text
    .replaceAll(/(mp_(?:live|test)_)[0-9A-Za-z]{28}/g, "$1<shown this once>")
    .replaceAll(/(whsec_)[\w+/=]+/g, "$1<shown this once>")
    .replaceAll(/memory:put\/([^?"]+)\?for=\d+/g, "https://files.example.com/$1?signature=0000");

/** The examples of the document: real requests of a shop, and what the service answered. */
export const recorded = async (): Promise<Example[]> => {
  const house = await givenShop();
  const { world } = house;
  const told: Example[] = [];

  const ask = async (title: string, what: string, asked: Asked = {}): Promise<any> => {
    const { query, body, mode = "live" } = asked;
    const key = mode === "live" ? house.liveKey : house.testKey;
    const [method = "", path = ""] = what.split(" ");
    const { endpoint, path: parameters } = route(method, path);
    const { statusCode, text } = await send(world, what, {
      key,
      ...(query && { query }),
      ...(body !== undefined && { body }),
    });
    const nth = told.filter((one) => one.route === endpoint.route).length + 1;
    const answer: any = JSON.parse(published(text));
    told.push({
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

  await ask("All is well", "GET /health");
  await ask("Plans, packs and prices", "GET /v1/catalog");
  await verifying(ask, house);
  await checking(ask, house);
  await subscribing(ask, house);
  await managing(ask);
  return told;
};

/** What arrives at a webhook: one of each event. */
export const recordedEvents = async (): Promise<Record<string, unknown>> => {
  const bodies = [...(await heardOnABadDay()), ...(await heardOnAnOrdinaryDay())];
  return Object.fromEntries(bodies.toReversed().map((body) => [body.type, body]));
};

const whenSubscribed = async ({ world }: House, key: string): Promise<string> => {
  const body = { url: "https://hooks.example.com/mailproof", events: EVENT_TYPES };
  const { data } = await send(world, "POST /v1/webhooks", { key, body });
  return data.id;
};

const heardIn = async (house: House): Promise<any[]> => {
  for (let minute = 0; minute < 5; minute++) {
    await whenWorked(house);
    house.later(60_000);
    await whenReconciled(house);
  }
  return house.servers.heard.map(({ body }): unknown => JSON.parse(body ?? "{}"));
};

const heardOnAnOrdinaryDay = async (): Promise<any[]> => {
  const house = await givenShop(11);
  const { world, liveKey, testKey } = house;
  for (const key of [liveKey, testKey]) {
    const id = await whenSubscribed(house, key);
    await send(world, `POST /v1/webhooks/${id}/test`, { key });
  }
  await whenBatched(world, liveKey, { emails: anns(10) });
  await whenVerified(world, liveKey, { email: "ada.lovelace@example.com" });
  for (const domain of ["listed.example", "nodmarc.example"])
    await whenChecked(world, testKey, { domain });
  return heardIn(house);
};

/** The queue takes nothing in, so a file's addresses are refunded, and its job comes to nothing. */
const heardOnABadDay = async (): Promise<any[]> => {
  const house = await givenShop();
  const { world, liveKey } = house;
  await whenSubscribed(house, liveKey);
  const asked = { action: "get_upload_url", file_name: "customers.csv" };
  const { data } = await send(world, "POST /v1/verify/file", { key: liveKey, body: asked });
  await whenPut(world, data.file_key, csvOf(anns(2)));
  await whenFiled(
    fated(house, () => "refused"),
    liveKey,
    processOf(data.file_key),
  );
  return heardIn(house);
};

type Ask = (title: string, what: string, asked?: Asked) => Promise<any>;
type House = Awaited<ReturnType<typeof givenShop>>;

const verifying = async (ask: Ask, house: House): Promise<void> => {
  const { world, later } = house;
  await ask("A mailbox that is there", "POST /v1/verify", {
    body: { email: "ada.lovelace@example.com" },
  });
  await ask("One that is not, with the quick options", "POST /v1/verify", {
    body: { email: "invalid@example.com", options: { include_ai: false, timeout_ms: 5_000 } },
  });
  await ask("A server that takes its time: read the job", "POST /v1/verify", {
    body: { email: "slow@example.com", options: { timeout_ms: 1_000 } },
  });
  const { job_id: job } = await ask("A list, with a callback", "POST /v1/verify/batch", {
    body: {
      emails: ["ada.lovelace@example.com", "invalid@example.com", "info@example.com"],
      name: "Newsletter, November",
      webhook_url: "https://hooks.example.com/mailproof",
    },
  });
  const { file_key } = await ask("First: where to put the file", "POST /v1/verify/file", {
    body: { action: "get_upload_url", file_name: "customers.csv" },
  });
  await whenPut(world, file_key, csvOf(["ann@example.com", "bo@example.com", "ann@example.com"]));
  await ask("Then: process what was put there", "POST /v1/verify/file", {
    body: { action: "process", file_key, email_column: "email", has_header: true },
  });
  later(60_000);
  await whenWorked(house);
  await ask("The latest two", "GET /v1/jobs", { query: { limit: "2" } });
  await ask("Done, with the first two results", `GET /v1/jobs/${job}`, { query: { limit: "2" } });
  await ask("The valid ones, as JSON", `GET /v1/jobs/${job}/download`, {
    query: { format: "json", filter: "valid" },
  });
  await ask("The callback arrived", `GET /v1/jobs/${job}/callbacks`);
  await ask("Found", "POST /v1/find", {
    body: { first_name: "Ada", last_name: "Lovelace", domain: "example.com" },
  });
};

const checking = async (ask: Ask, { later }: House): Promise<void> => {
  await ask("Somebody who reads what you send", "GET /v1/activity/high@example.com", {
    mode: "test",
  });
  await ask("Two addresses", "POST /v1/activity/batch", {
    mode: "test",
    body: { emails: ["high@example.com", "unknown@example.com"] },
  });
  await ask("A domain in good standing", "GET /v1/activity/domain/example.com", { mode: "test" });
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
  const { check_id } = await ask("A weak set-up", "POST /v1/deliverability/check", {
    mode: "test",
    body: { domain: "weak.example", sending_ip: "192.0.2.1" },
  });
  await ask("The history", "GET /v1/deliverability/checks", { mode: "test" });
  await ask("One of them, whole", `GET /v1/deliverability/checks/${check_id}`, { mode: "test" });
  const { monitor_id } = await ask("Each week", "POST /v1/deliverability/monitors", {
    mode: "test",
    body: { domain: "example.com", interval_hours: 168 },
  });
  later(1_000);
  await ask("What is watched", "GET /v1/deliverability/monitors", { mode: "test" });
  await ask("Watch it no longer", `DELETE /v1/deliverability/monitors/${monitor_id}`, {
    mode: "test",
  });
};

const subscribing = async (ask: Ask, house: House): Promise<void> => {
  await ask("Every name", "GET /v1/webhooks/events");
  const { id } = await ask("Be told of jobs", "POST /v1/webhooks", {
    body: { url: "https://hooks.example.com/mailproof", events: ["job.completed", "job.failed"] },
  });
  await ask("What there is", "GET /v1/webhooks");
  await ask("Of credits, too", `PUT /v1/webhooks/${id}`, {
    body: { events: ["job.completed", "job.failed", "credits.low"] },
  });
  await ask("It arrived", `POST /v1/webhooks/${id}/test`);
  house.later(1_000);
  await whenWorked(house);
  const { deliveries } = await ask("The log", `GET /v1/webhooks/${id}/deliveries`);
  await ask("Once more", `POST /v1/webhooks/${id}/deliveries/${deliveries[0].id}/retry`);
  await ask("A new secret", `POST /v1/webhooks/${id}/secret`);
  await ask("Tell it nothing more", `DELETE /v1/webhooks/${id}`);
};

const managing = async (ask: Ask): Promise<void> => {
  await ask("The account and the key in use", "GET /v1/account");
  await ask("What moved its credits", "GET /v1/account/usage", {
    query: { from: "2026-11-01", to: "2026-11-30" },
  });
  const { key_id } = await ask("A key that reads only", "POST /v1/api-keys", {
    body: { name: "Dashboard", mode: "test", scopes: ["verification:read", "account:read"] },
  });
  await ask("All keys", "GET /v1/api-keys");
  await ask("Revoked", `DELETE /v1/api-keys/${key_id}`);
};
