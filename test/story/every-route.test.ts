import { programEndpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import { expect, test } from "vitest";
import { given, givenKey } from "../app/given.ts";
import { send } from "../app/send.ts";

// What every route has in common, from the list of endpoints; the other stories have the rest, a route each. test/security/roles.test.ts tries the routes for people.
// test/security/scopes.test.ts tries each scope, and isolation.test.ts there the ids of another account.

const PER_MINUTE = 60;

const behindAKey = programEndpoints.filter(({ access }) => access !== "public");
const withABody = programEndpoints.filter(({ body }) => body);
const withAnId = behindAKey.filter(({ route }) => route.includes("{id}"));
/** A monitor, and a library that reads keys, may add a parameter against caches. */
const strict = programEndpoints.filter(({ id }) => id !== "getHealth" && id !== "getReceiptKeys");

/** What the route's example asks for, so that only what a test changes is wrong. */
const exampleOf = ({ route }: Endpoint) => {
  const { path = {}, query = {}, request } = EXAMPLES.find((one) => one.route === route) ?? {};
  return {
    to: (id?: string) => route.replaceAll(/\{(\w+)\}/g, (_, name) => id ?? path[name] ?? ""),
    query,
    ...(request !== undefined && { body: request }),
  };
};

const UNKNOWN = { field: "no_such", message: "is not a known field" };

test.each(strict)("$route answers 400 for an unknown parameter and states it", async (endpoint) => {
  const { world, liveKey: key } = await given();
  const { to, query, ...request } = exampleOf(endpoint);
  const sent = { ...request, key, query: { ...query, no_such: "1" } };

  const { statusCode, error } = await send(world, to(), sent);

  expect([statusCode, error.code, error.details]).toEqual([400, "INVALID_REQUEST", [UNKNOWN]]);
});

/** The parameters of lists, whichever list takes them. */
const LIST_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  limit: ["0", "-1", "1.5", "ten", ""],
  offset: ["x", "MTIz"],
  after: ["x"],
};

const lists = strict.flatMap((endpoint) => {
  const { entries = {} } = (endpoint.query ?? {}) as { entries?: object };
  const fields = Object.keys(LIST_PARAMETERS).filter((field) => field in entries);
  return fields.map((field) => ({ ...endpoint, field }));
});

test("the endpoints include more than twelve lists", () =>
  expect(lists.length).toBeGreaterThan(12));

test.each(lists)("$route answers 400 for a malformed $field and states it", async (endpoint) => {
  const { world, liveKey: key } = await given();
  const { to, query } = exampleOf(endpoint);
  const { field } = endpoint;

  for (const value of LIST_PARAMETERS[field] ?? []) {
    const { statusCode, error } = await send(world, to(), {
      key,
      query: { ...query, [field]: value },
    });
    expect([value, statusCode, error.details?.[0]?.field]).toEqual([value, 400, field]);
  }
});

test.each(withABody)(
  "$route answers 400 for an unknown field of the body and states it",
  async (endpoint) => {
    const { world, liveKey: key } = await given();
    const { to, query, body } = exampleOf(endpoint);
    const sent = { key, query, body: { ...(body as object), no_such: 1 } };

    const { statusCode, error } = await send(world, to(), sent);

    expect([statusCode, error.code, error.details]).toEqual([400, "INVALID_REQUEST", [UNKNOWN]]);
  },
);

test.each(behindAKey)(
  "$route answers 401 without a key and 403 for a key with every other scope",
  async (endpoint) => {
    const { world, account } = await given();
    const { to, ...request } = exampleOf(endpoint);
    const { access } = endpoint;
    const scopes = SCOPES.filter((scope) => scope !== access);
    const key = await givenKey(world, account, { scopes });

    expect((await send(world, to(), request)).statusCode).toBe(401);
    expect(await send(world, to(), { ...request, key })).toMatchObject({
      statusCode: 403,
      error:
        access === "unrestricted"
          ? {
              message:
                "This operation is reserved for unrestricted keys and owners. Nothing was charged.",
            }
          : { code: "FORBIDDEN", details: { required_scope: access } },
    });
  },
);

test.each(programEndpoints.filter(({ keyed }) => keyed))(
  "$route answers 400 for an Idempotency-Key with a space",
  async (endpoint) => {
    const { world, liveKey: key } = await given();
    const { to, ...request } = exampleOf(endpoint);
    const headers = { "idempotency-key": "a b" };

    const { statusCode, error } = await send(world, to(), { ...request, key, headers });

    expect([statusCode, error.code]).toEqual([400, "INVALID_IDEMPOTENCY_KEY"]);
  },
);

test.each(behindAKey)(
  "$route answers 429 with Retry-After when a burst exceeds the plan's limit",
  async (endpoint) => {
    const { world, liveKey: key } = await given({ plan: "free" });
    const somewhere = exampleOf(endpoint).to("anything");
    const sendBurst = Array.from({ length: PER_MINUTE + 1 }, () => send(world, somewhere, { key }));

    const limited = (await Promise.all(sendBurst)).filter(({ statusCode }) => statusCode === 429);

    expect(limited).toMatchObject([
      {
        headers: { "retry-after": "60", "x-ratelimit-remaining": "0" },
        error: { code: "RATE_LIMITED", retryable: true, money: "nothing_charged" },
      },
    ]);
  },
);

const IMPOSSIBLE = [
  "x".repeat(101),
  "x".repeat(3_000),
  "a%20b",
  "%00",
  "x%23y",
  "%F0%9F%98%80",
  "-",
];

test.each(withAnId)(
  "$route answers 404 for an impossible id, as for an unknown one",
  async (endpoint) => {
    const { world, liveKey: key } = await given();
    const { to, ...request } = exampleOf(endpoint);
    const { error: missing } = await send(world, to("job_9"), { ...request, key });

    expect(missing.code).toBe("NOT_FOUND");
    for (const id of IMPOSSIBLE) {
      const { statusCode, error } = await send(world, to(id), { ...request, key });
      expect([id, statusCode, error]).toEqual([id, 404, missing]);
    }
  },
);
