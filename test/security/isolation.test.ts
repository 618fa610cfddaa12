import { endpoints } from "@mailproof/api/endpoints";
import type { AppWorld } from "@mailproof/core/app-world";
import { call } from "@mailproof/mcp/call";
import { tools } from "@mailproof/mcp/tools";
import { describe, expect, test } from "vitest";
import { anEvent } from "../activity.ts";
import { processOf } from "../jobs.ts";
import { send } from "../send.ts";
import { recorded } from "./doors.ts";
import { apart, givenTwo, live, modeOf, type Things } from "./life.ts";

// Goal: nobody learns from us that somebody else exists, has something, or has done something: not by what is said,
// and not by how long it takes.
// Method: the same request is sent to two houses. In one, the other has lived: jobs, files, checks, keys, webhooks.
// In the other it has done nothing, so its ids are nobody's. The whole answers must be equal, headers too, and so
// must be every use of a door.

type Ask = {
  readonly of: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
};

/** `own` is the asker's, where one thing is asked for by way of another. */
type Asking = (their: Things, own: Things, mode: "live" | "test") => readonly Ask[];

const plainly: Asking = () => [{ of: "what is one's own", status: 200 }];

const keyed = ({ idempotencyKey }: Things) => ({ "idempotency-key": idempotencyKey });

/** Every route, with what of another's can be named there. */
const ASKED: Readonly<Record<string, Asking>> = {
  "GET /health": plainly,
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
  "POST /v1/verify/batch": (their) => [
    {
      of: "an Idempotency-Key",
      headers: keyed(their),
      body: { emails: ["kim1@other.example"] },
      status: 202,
    },
  ],
  "POST /v1/verify/file": (their) => [
    { of: "a file", body: processOf(their.fileKey), status: 403 },
    {
      of: "a file and its key",
      headers: keyed(their),
      body: processOf(their.fileKey),
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
    { of: "a cursor", path: { id: own.job }, query: { next_key: nextKey }, status: 400 },
    { of: "a job and its cursor", path: { id: job }, query: { next_key: nextKey }, status: 404 },
  ],
  "GET /v1/jobs/{id}/download": ({ job, fileJob }) => [
    { of: "a batch", path: { id: job }, status: 404 },
    { of: "a file", path: { id: fileJob }, query: { format: "json" }, status: 404 },
  ],
  "GET /v1/jobs/{id}/callbacks": ({ job, fileJob }) => [
    { of: "a batch", path: { id: job }, status: 404 },
    { of: "a file", path: { id: fileJob }, status: 404 },
  ],
  // What a domain's habit is, is everybody's (docs/decisions/0019): the search is for another domain.
  "POST /v1/find": () => [
    {
      of: "a person",
      body: { first_name: "Kim", last_name: "Lee", domain: "third.example" },
      status: 200,
    },
  ],
  "GET /v1/activity/{email}": () => [
    { of: "an address", path: { email: "kim1@other.example" }, status: 200 },
  ],
  "POST /v1/activity/batch": () => [
    { of: "an address", body: { emails: ["kim1@other.example"] }, status: 200 },
  ],
  "GET /v1/activity/domain/{domain}": () => [
    { of: "a domain", path: { domain: "other.example" }, status: 200 },
  ],
  "POST /v1/activity/events": () => [
    { of: "an id", body: { events: [anEvent("open", 2, { id: "event-of-other" })] }, status: 200 },
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
  "GET /v1/deliverability/checks": plainly,
  "GET /v1/deliverability/checks/{id}": ({ check }) => [
    { of: "a check", path: { id: check }, status: 404 },
  ],
  "POST /v1/deliverability/monitors": () => [
    { of: "a domain", body: { domain: "other.example" }, status: 201 },
  ],
  "GET /v1/deliverability/monitors": plainly,
  "DELETE /v1/deliverability/monitors/{id}": ({ monitor }) => [
    { of: "a monitor", path: { id: monitor }, status: 404 },
  ],
  "GET /v1/webhooks": plainly,
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
  "DELETE /v1/webhooks/{id}": ({ webhook }) => [
    { of: "a webhook", path: { id: webhook }, status: 404 },
  ],
  "POST /v1/webhooks/{id}/test": ({ webhook }) => [
    { of: "a webhook", path: { id: webhook }, status: 404 },
  ],
  "POST /v1/webhooks/{id}/secret": ({ webhook }) => [
    { of: "a webhook", path: { id: webhook }, status: 404 },
  ],
  "GET /v1/webhooks/events": plainly,
  "GET /v1/webhooks/{id}/deliveries": ({ webhook }) => [
    { of: "a webhook", path: { id: webhook }, status: 404 },
  ],
  "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry": ({ webhook, delivery }, own) => [
    { of: "a webhook", path: { id: webhook, delivery_id: delivery }, status: 404 },
    { of: "a delivery", path: { id: own.webhook, delivery_id: delivery }, status: 404 },
  ],
  "GET /v1/account": plainly,
  "GET /v1/account/usage": plainly,
  "GET /v1/api-keys": plainly,
  "POST /v1/api-keys": (_their, _own, mode) => [
    { of: "one of one's own", body: { name: "Mine", mode }, status: 201 },
  ],
  "DELETE /v1/api-keys/{id}": ({ keyId }) => [{ of: "a key", path: { id: keyId }, status: 404 }],
  "GET /v1/catalog": plainly,
};

/** Who asks, and who it is that has lived or not. */
const ASKERS = {
  "another account": ({ other, liveKey }) => [other.liveKey, liveKey],
  "another account's test key": ({ other, liveKey }) => [other.testKey, liveKey],
  "the same account's test key": ({ testKey, liveKey }) => [testKey, liveKey],
  "the same account's live key": ({ testKey, liveKey }) => [liveKey, testKey],
} as const satisfies Record<string, (house: Two) => readonly [asker: string, other: string]>;

/** A live key manages the test keys of its account, too. */
const isTheirs = (asker: string, route: string): boolean =>
  asker === "the same account's live key" && /^(?:GET|DELETE) \/v1\/api-keys/.test(route);

type Two = Awaited<ReturnType<typeof givenTwo>>;

/** The things of whoever has lived are named in both houses; in the second they are nobody's. */
const givenHouses = async (asker: keyof typeof ASKERS) => {
  const houses = [];
  let their: Things | undefined;
  for (const hasLived of [true, false]) {
    const house = await givenTwo();
    const [key, other] = ASKERS[asker](house);
    const own = await live(house, key, "asker");
    if (hasLived) their = await live(house, other, "other");
    const watched = recorded(apart(house.world, "later"));
    houses.push({ key, own, ...watched });
  }
  if (!their) throw new Error("nobody has lived");
  return { houses, their };
};

const made = new Map<string, ReturnType<typeof givenHouses>>();
const housesOf = (asker: keyof typeof ASKERS) => {
  const known = made.get(asker) ?? givenHouses(asker);
  made.set(asker, known);
  return known;
};

const pathOf = (route: string, path: Ask["path"] = {}): string =>
  route.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(path[name] ?? ""));

test("every route says what of another's can be named there", () => {
  expect(Object.keys(ASKED).toSorted()).toEqual(endpoints.map(({ route }) => route).toSorted());
});

const asksOf = (route: string, their: Things, { own, key }: { own: Things; key: string }) =>
  ASKED[route]?.(their, own, modeOf(key)) ?? [];

/** A tool is told in one object what a request tells in its parts. */
const argumentsOf = ({ path, query, body, headers }: Ask) => {
  const idempotencyKey = headers?.["idempotency-key"];
  return {
    ...path,
    ...query,
    ...(body as object),
    ...(idempotencyKey && { idempotency_key: idempotencyKey }),
  };
};

describe.each(Object.keys(ASKERS) as (keyof typeof ASKERS)[])("%s", (asker) => {
  const routes = Object.keys(ASKED).filter((route) => !isTheirs(asker, route));
  const withTool = routes.flatMap((route) =>
    tools.filter(({ endpoint }) => endpoint.route === route),
  );

  /** Does the same in both houses, and looks at what came of it and what it took. */
  const expectTheSame = async <T>(
    route: string,
    when: (ask: Ask, house: { readonly world: AppWorld; readonly key: string }) => Promise<T>,
    look: (told: T, ask: Ask) => void,
  ): Promise<void> => {
    const { houses, their } = await housesOf(asker);
    const [first] = houses;
    for (const ask of first ? asksOf(route, their, first) : []) {
      const [lived, absent] = await Promise.all(
        houses.map(async (house) => {
          house.uses.length = 0;
          const told = await when(ask, house);
          return { told, uses: [...house.uses] };
        }),
      );
      if (lived) look(lived.told, ask);
      expect(lived?.told, `${ask.of}: the answer`).toEqual(absent?.told);
      expect(lived?.uses, `${ask.of}: the doors`).toEqual(absent?.uses);
    }
  };

  test.each(routes)("learns nothing from %s", async (route) => {
    await expectTheSame(
      route,
      (ask, { world, key }) => send(world, pathOf(route, ask.path), { key, ...ask }),
      ({ statusCode, text }, { of, status }) => expect(statusCode, `${of}: ${text}`).toBe(status),
    );
  });

  test.each(withTool)("nor from the tool $listed.name", async (tool) => {
    await expectTheSame(
      tool.endpoint.route,
      (ask, { world, key }) => call(world, tool, argumentsOf(ask), { "x-api-key": key }),
      ({ content }, { of }) => expect(content, `${of}: a tool says something`).not.toEqual([]),
    );
  });
});
