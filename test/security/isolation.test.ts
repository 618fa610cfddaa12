import { programEndpoints } from "@mailproof/api/endpoints";
import type { AppWorld } from "@mailproof/core/app-world";
import { call } from "@mailproof/mcp/call";
import { tools } from "@mailproof/mcp/tools";
import { describe, expect, test } from "vitest";
import { BASE_URL, send } from "../app/send.ts";
import { createEvent } from "../things/activity.ts";
import { createProcessRequest } from "../things/jobs.ts";
import { recordUses } from "./port-uses.ts";
import {
  createReportBody,
  getMode,
  isolateIds,
  type OwnedThings,
  setupTwoAccounts,
  useEverything,
} from "./used-account.ts";

// Goal: no account learns from us that another exists, has something, or has done something: not by a response,
// and not by how long it takes.
// Method: the same request is sent to two apps. In one, the other account was used: jobs, files, checks, keys, webhooks.
// In the other it has done nothing, so its ids do not exist. The whole responses must be equal, headers too, and so
// must be every use of a port.

type Ask = {
  readonly of: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
};

/** `own` is the asker's, where one thing is asked for by way of another. */
type AskBuilder = (their: OwnedThings, own: OwnedThings, mode: "live" | "test") => readonly Ask[];

const keyed = ({ idempotencyKey }: OwnedThings) => ({ "idempotency-key": idempotencyKey });

/** What of another's can be named in the path of a route, by what stands before it, and how that is answered. */
const NAMED: Readonly<
  Record<
    string,
    (their: OwnedThings) => readonly (readonly [of: string, name: string, status: number])[]
  >
> = {
  "jobs/{id}": ({ job, fileJob }) => [
    ["a batch", job, 404],
    ["a file", fileJob, 404],
  ],
  "checks/{id}": ({ check }) => [["a check", check, 404]],
  "tests/{id}": ({ mailTest }) => [["a mail test", mailTest, 404]],
  "monitors/{id}": ({ monitor }) => [["a monitor", monitor, 404]],
  "webhooks/{id}": ({ webhook }) => [["a webhook", webhook, 404]],
  "api-keys/{id}": ({ keyId }) => [["a key", keyId, 404]],
};

/** Parameters of a path that name something outside the service, which any account may ask for. */
const OF_ANYONE: Readonly<Record<string, readonly [of: string, name: string, status: number]>> = {
  domain: ["a domain", "other.example", 200],
  email: ["an address", "kim1@other.example", 200],
};

/** What a route is asked for that names another's things only in its path, or nowhere. */
const buildAsks =
  (route: string): AskBuilder =>
  (their) => {
    const [, collection = "", name = ""] = /(\w[\w-]*)\/\{(\w+)\}/.exec(route) ?? [];
    if (name === "") return [{ of: "what is one's own", status: 200 }];
    const known = OF_ANYONE[name] && [OF_ANYONE[name]];
    const named = known ?? NAMED[`${collection}/{${name}}`]?.(their) ?? [];
    return named.map(([of, value, status]) => ({ of, path: { [name]: value }, status }));
  };

/** What of another's can be named in a route elsewhere than in its path. */
const ASKS_BY_ROUTE: Readonly<Record<string, AskBuilder>> = {
  "POST /v1/verify": (their) => [
    {
      of: "an Idempotency-Key",
      headers: keyed(their),
      body: { email: "kim1@other.example" },
      status: 200,
    },
    {
      of: "an address with activity",
      body: { email: "kim1@other.example", include_activity: true },
      status: 200,
    },
  ],
  "POST /v1/verify/form": () => [
    { of: "a verified address", body: { email: "kim1@other.example" }, status: 200 },
  ],
  "POST /v1/verify/batch": (their) => [
    {
      of: "an Idempotency-Key",
      headers: keyed(their),
      body: { emails: ["kim1@other.example"] },
      status: 202,
    },
  ],
  "POST /v1/verify/file": (their) => [
    { of: "a file", body: createProcessRequest(their.fileKey), status: 403 },
    {
      of: "a file and its key",
      headers: keyed(their),
      body: createProcessRequest(their.fileKey),
      status: 403,
    },
  ],
  "GET /v1/jobs": ({ offset, nextKey }) => [
    { of: "what is one's own", status: 200 },
    { of: "a cursor", query: { offset }, status: 400 },
    { of: "a cursor of another route", query: { offset: nextKey }, status: 400 },
  ],
  "GET /v1/jobs/{id}": ({ job, fileJob, nextKey }, own) => [
    { of: "a batch", path: { id: job }, status: 404 },
    { of: "a file", path: { id: fileJob }, status: 404 },
    {
      of: "the rows of a batch",
      path: { id: job },
      query: { filter: "status:valid", q: "kim", sort: "email" },
      status: 404,
    },
    { of: "a cursor", path: { id: own.job }, query: { next_key: nextKey }, status: 400 },
    { of: "a job and its cursor", path: { id: job }, query: { next_key: nextKey }, status: 404 },
  ],
  "GET /v1/jobs/{id}/results/{row}": ({ job, fileJob }) => [
    { of: "a batch", path: { id: job, row: "1" }, status: 404 },
    { of: "a file", path: { id: fileJob, row: "2" }, status: 404 },
  ],
  "POST /v1/jobs/{id}/again": (their) =>
    [their.job, their.fileJob].map((id) => ({
      of: "a job and an Idempotency-Key",
      path: { id },
      headers: keyed(their),
      body: { filter: "score:0-100" },
      status: 404,
    })),
  "DELETE /v1/data": () => [
    { of: "an address", query: { email: "kim2@other.example" }, status: 200 },
  ],
  "GET /v1/jobs/{id}/download": ({ job, fileJob }) => [
    { of: "a batch", path: { id: job }, status: 404 },
    { of: "a file", path: { id: fileJob }, query: { format: "json" }, status: 404 },
  ],
  // What a domain's habit is, is everybody's (docs/design/finding.md): the search is for another domain.
  "POST /v1/find": () => [
    {
      of: "a person",
      body: { first_name: "Kim", last_name: "Lee", domain: "third.example" },
      status: 200,
    },
  ],
  "POST /v1/activity/batch": () => [
    { of: "an address", body: { emails: ["kim1@other.example"] }, status: 200 },
  ],
  "POST /v1/activity/events": () => [
    {
      of: "an id",
      body: { events: [createEvent("open", 2, { id: "event-of-other" })] },
      status: 200,
    },
  ],
  "POST /v1/deliverability/check": (their) => [
    { of: "a domain of this day", body: { domain: "other.example" }, status: 200 },
    {
      of: "an Idempotency-Key",
      headers: keyed(their),
      body: { domain: "other.example" },
      status: 200,
    },
  ],
  "POST /v1/deliverability/tests": (their) => [
    { of: "what is one's own", status: 201 },
    { of: "an Idempotency-Key", headers: keyed(their), status: 201 },
  ],
  "GET /v1/deliverability/tests": ({ testOffset }) => [
    { of: "what is one's own", status: 200 },
    { of: "a domain", query: { domain: "other.example" }, status: 200 },
    { of: "a cursor", query: { offset: testOffset }, status: 400 },
  ],
  "POST /v1/deliverability/monitors": () => [
    { of: "a domain", body: { domain: "other.example" }, status: 201 },
  ],
  "POST /v1/deliverability/reports": () => [
    { of: "a report", body: createReportBody("other"), status: 201 },
  ],
  "POST /v1/webhooks": () => [
    {
      of: "an address",
      body: { url: "https://h.example/", events: ["job.completed"] },
      status: 201,
    },
  ],
  "PUT /v1/webhooks/{id}": ({ webhook }) => [
    { of: "a webhook", path: { id: webhook }, body: { status: "disabled" }, status: 404 },
    { of: "its address", path: { id: webhook }, body: { url: "https://x.example/" }, status: 404 },
  ],
  "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry": ({ webhook, delivery }, own) => [
    { of: "a webhook", path: { id: webhook, delivery_id: delivery }, status: 404 },
    { of: "a delivery", path: { id: own.webhook, delivery_id: delivery }, status: 404 },
  ],
  "POST /v1/webhooks/{id}/replay": ({ webhook }) => [
    {
      of: "a webhook",
      path: { id: webhook },
      query: { since: "2026-11-01T00:00:00Z" },
      status: 404,
    },
  ],
  "GET /v1/events": ({ offset, nextKey }) => [
    { of: "what is one's own", status: 200 },
    { of: "a cursor", query: { after: offset }, status: 400 },
    { of: "a cursor of another route", query: { after: nextKey }, status: 400 },
  ],
  "GET /v1/account/ledger": ({ offset }) => [
    { of: "what is one's own", status: 200 },
    { of: "a cursor of another route", query: { offset }, status: 400 },
  ],
  "GET /v1/requests": ({ offset, keyId }) => [
    { of: "a key", query: { key_id: keyId }, status: 200 },
    { of: "what is one's own", query: { status: "5xx" }, status: 200 },
    { of: "a cursor of another route", query: { offset }, status: 400 },
  ],
  "POST /v1/api-keys": (_their, _own, mode) => [
    { of: "one of one's own", body: { name: "Mine", mode }, status: 201 },
  ],
};

/** The account that asks, and the one that was used or not. */
const ASKERS = {
  "another account": ({ other, liveKey }) => [other.liveKey, liveKey],
  "another account's test key": ({ other, liveKey }) => [other.testKey, liveKey],
  "the same account's test key": ({ testKey, liveKey }) => [testKey, liveKey],
  "the same account's live key": ({ testKey, liveKey }) => [liveKey, testKey],
} as const satisfies Record<string, (ctx: Two) => readonly [asker: string, other: string]>;

/** A live key manages the test keys of its account, too. */
const isTheirs = (asker: string, route: string): boolean =>
  asker === "the same account's live key" && /^(?:GET|DELETE) \/v1\/api-keys/.test(route);

type Two = Awaited<ReturnType<typeof setupTwoAccounts>>;

/** The ids of the used account are named in both apps; in the second they do not exist. */
const setupContexts = async (asker: keyof typeof ASKERS) => {
  const contexts = [];
  let their: OwnedThings | undefined;
  for (const hasLived of [true, false]) {
    const ctx = await setupTwoAccounts();
    const [key, other] = ASKERS[asker](ctx);
    const own = await useEverything(ctx, key, "asker");
    if (hasLived) their = await useEverything(ctx, other, "other");
    const recording = recordUses(isolateIds(ctx.world, "later"));
    contexts.push({ key, own, ...recording });
  }
  if (!their) throw new Error("no account was used");
  return { contexts, their };
};

const contextsByAsker = new Map<string, ReturnType<typeof setupContexts>>();
const getContexts = (asker: keyof typeof ASKERS) => {
  const contextsPromise = contextsByAsker.get(asker) ?? setupContexts(asker);
  contextsByAsker.set(asker, contextsPromise);
  return contextsPromise;
};

const toPath = (route: string, path: Ask["path"] = {}): string =>
  route.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(path[name] ?? ""));

test("the isolation cases ask every route with an id for another account's", () => {
  const unasked = programEndpoints.filter(({ route, path, body }) => {
    const isNamed =
      path === undefined ||
      (route.split("{").length === 2 &&
        [...Object.keys(NAMED), ...Object.keys(OF_ANYONE).map((name) => `{${name}}`)].some((one) =>
          route.includes(one),
        ));
    return !ASKS_BY_ROUTE[route] && (body !== undefined || !isNamed);
  });

  expect(
    unasked.map(({ route }) => `${route}: add to NAMED or ASKS_BY_ROUTE what it can be asked for`),
  ).toEqual([]);
  expect(
    Object.keys(ASKS_BY_ROUTE).filter(
      (route) => !programEndpoints.some((one) => one.route === route),
    ),
  ).toEqual([]);
});

const listAsks = (
  route: string,
  their: OwnedThings,
  { own, key }: { own: OwnedThings; key: string },
) => (ASKS_BY_ROUTE[route] ?? buildAsks(route))(their, own, getMode(key));

/** A tool gets in one object what a request has in its parts. */
const toArguments = ({ path, query, body, headers }: Ask) => {
  const idempotencyKey = headers?.["idempotency-key"];
  return {
    ...path,
    ...query,
    ...(body as object),
    ...(idempotencyKey && { idempotency_key: idempotencyKey }),
  };
};

describe.each(Object.keys(ASKERS) as (keyof typeof ASKERS)[])("%s", (asker) => {
  const routes = programEndpoints
    .map(({ route }) => route)
    .filter((route) => !isTheirs(asker, route));
  const withTool = routes.flatMap((route) =>
    tools.filter(({ endpoint }) => endpoint.route === route),
  );

  /** Does the same in both apps, and compares the responses and the uses of the ports. */
  const expectSame = async <T>(
    route: string,
    when: (ask: Ask, ctx: { readonly world: AppWorld; readonly key: string }) => Promise<T>,
    look: (response: T, ask: Ask) => void,
  ): Promise<void> => {
    const { contexts, their } = await getContexts(asker);
    const [first] = contexts;
    for (const ask of first ? listAsks(route, their, first) : []) {
      const [lived, absent] = await Promise.all(
        contexts.map(async (ctx) => {
          ctx.uses.length = 0;
          const response = await when(ask, ctx);
          return { response, uses: [...ctx.uses] };
        }),
      );
      if (lived) look(lived.response, ask);
      expect(lived?.response, `${ask.of}: the answer`).toEqual(absent?.response);
      expect(lived?.uses, `${ask.of}: the ports`).toEqual(absent?.uses);
    }
  };

  test.each(routes)("a key of another account or mode learns nothing from %s", async (route) => {
    await expectSame(
      route,
      (ask, { world, key }) => send(world, toPath(route, ask.path), { key, ...ask }),
      ({ statusCode, text }, { of, status }) => expect(statusCode, `${of}: ${text}`).toBe(status),
    );
  });

  test.each(withTool)(
    "a key of another account or mode learns nothing from the tool $listed.name",
    async (tool) => {
      await expectSame(
        tool.endpoint.route,
        (ask, { world, key }) =>
          call(world, tool, toArguments(ask), { headers: { "x-api-key": key } }, BASE_URL),
        ({ content }, { of }) => expect(content, `${of}: a tool says something`).not.toEqual([]),
      );
    },
  );
});
