import { openapi } from "@mailproof/api/openapi/openapi";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { whenVerified } from "../send.ts";

// Programs that make collections of requests from the document put a value into every header, once, at the import. A
// fixed Idempotency-Key would make the second different request a conflict.

const document: any = openapi("http://127.0.0.1");

test("nothing in the document gives an importer a fixed Idempotency-Key", () => {
  const { IdempotencyKey: key } = document.components.parameters;

  expect(key.example).toBe("{{$randomUUID}}");
  expect(Object.keys(key.schema).toSorted()).toEqual(["maxLength", "minLength", "type"]);
  expect(key.required).toBe(false);
});

test.each(["<string>", "{{$randomUUID}}", "{{key}}"])(
  "%s is a placeholder and no key: 400, and nothing is charged",
  async (placeholder) => {
    const { world, liveKey } = await given({ balance: 5 });

    const { statusCode, error } = await whenVerified(
      world,
      liveKey,
      { email: "a@x.com" },
      placeholder,
    );

    expect(statusCode).toBe(400);
    expect(error).toMatchObject({
      code: "INVALID_IDEMPOTENCY_KEY",
      message: `The Idempotency-Key ${placeholder} is a placeholder that was not filled in; send a key of your own, or none. Nothing was charged.`,
    });
  },
);

test.each(["<strings>", "{{}", "{{a}}b", "string"])("%s is a key like any other", async (key) => {
  const { world, liveKey } = await given({ balance: 5 });

  expect((await whenVerified(world, liveKey, { email: "a@x.com" }, key)).statusCode).toBe(200);
});
