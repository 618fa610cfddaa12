import { expect, test } from "vitest";
import { createEvent, whenEventsSent } from "../activity.ts";
import { given } from "../given.ts";
import { send } from "../send.ts";

const ROUTE = "POST /v1/activity/batch";
const ask = (world: Parameters<typeof send>[0], key: string, emails: unknown) =>
  send(world, ROUTE, { key, body: { emails } });

test("a hundred addresses are 200: each in the place where it was asked, a repeated one twice", async () => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(world, key, createEvent("open", 1, { email: "p7@x.com" }));
  const emails = [...Array.from({ length: 99 }, (_, n) => `p${n}@x.com`), "p7@x.com"];

  const { statusCode, data } = await ask(world, key, emails);

  expect(statusCode).toBe(200);
  expect(data.total).toBe(100);
  expect(data.results.map(({ email }: { email: string }) => email)).toEqual(emails);
  expect(
    data.results.flatMap((one: any, at: number) => (one.activity.total_opens === 1 ? [at] : [])),
  ).toEqual([7, 99]);
});

test.each([
  ["101 addresses", Array.from({ length: 101 }, (_, n) => `p${n}@x.com`), "emails"],
  ["no address", [], "emails"],
  ["something else than a list", "ann@x.com", "emails"],
  ["a wrong one among them", ["ann@x.com", "bo"], "emails.1"],
  ["a number among them", ["ann@x.com", 5], "emails.1"],
])("%s is 400 and names the field", async (_case, emails, field) => {
  const { world, liveKey: key } = await given();

  const refused = await ask(world, key, emails);

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.details[0].field).toBe(field);
});
