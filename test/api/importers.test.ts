import { openapi } from "@mailproof/api/openapi/openapi";
import { buildPostmanCollection } from "@mailproof/api/openapi/postman";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { whenVerified } from "../send.ts";

// Programs that make collections of requests put a value into every header. A key that stays the same would make the
// second different request a conflict, so the collection has a placeholder that they fill in each time.

const BASE_URL = "http://127.0.0.1";
const document: any = openapi(BASE_URL);
const collection: any = buildPostmanCollection(BASE_URL);
const requests: any[] = collection.item.flatMap(({ item }: any) =>
  item.map(({ request }: any) => request),
);

test("the document's Idempotency-Key is optional and has a UUID as its example", () => {
  const { IdempotencyKey: key } = document.components.parameters;

  expect(key.example).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect(Object.keys(key.schema).toSorted()).toEqual(["maxLength", "minLength", "type"]);
  expect(key.required).toBe(false);
});

test("the collection has every operation, and a new key for each request that takes one", () => {
  const routes = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, { parameters = [] }]) => ({
      route: `${method.toUpperCase()} {{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
      isKeyed: parameters.some(({ $ref = "" }: any) => $ref.endsWith("/IdempotencyKey")),
    })),
  );
  const collected = requests.map(({ method, url, header }) => ({
    route: `${method} ${url.raw}`,
    isKeyed: header.some(({ value }: any) => value === "{{$randomUUID}}"),
  }));
  const byRoute = (a: { route: string }, b: { route: string }) => (a.route < b.route ? -1 : 1);

  expect(collected.toSorted(byRoute)).toEqual(routes.toSorted(byRoute));
});

test.each(["<string>", "{{$randomUUID}}", "{{key}}", "{{}", "string", "!", "~".repeat(255)])(
  "%s is a key: printable ASCII without spaces is all that is asked of one",
  async (key) => {
    const { world, liveKey } = await given({ balance: 5 });
    const body = { email: "a@x.com" };

    const first = await whenVerified(world, liveKey, body, key);
    const repeat = await whenVerified(world, liveKey, body, key);

    expect(first).toMatchObject({ statusCode: 200, data: { credits_used: 1 } });
    expect(repeat.data).toMatchObject({ idempotent_replay: true, credits_used: 0 });
  },
);
