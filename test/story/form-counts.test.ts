import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { send } from "../app/send.ts";
import { ORIGIN } from "../things/control.ts";
import { givenForm, ROUTE } from "../things/forms.ts";

const readForms = async (
  { world, liveKey }: Awaited<ReturnType<typeof givenForm>>,
  key = liveKey,
) => {
  const { data } = await send(world, "GET /v1/account/usage", { key });
  return { total: data.totals.forms, days: data.days.map((day: any) => [day.date, day.forms]) };
};

test("the usage counts a form's addresses by class, and its typos", async () => {
  const ctx = await givenForm();
  for (const email of [
    "ann@example.com",
    "bob@example.com",
    "info@example.com",
    "ann@gmial.com",
    "ann.example.com",
    "ann@[127.0.0.1]",
  ])
    await ctx.ask(email);

  const counts = { key_id: ctx.keyId, origin: ORIGIN, go: 2, ask: 2, no: 2, typos: 1 };
  expect(await readForms(ctx)).toEqual({
    total: [counts],
    days: [["2026-11-21", [counts]]],
  });
  expect((await readForms(ctx, ctx.testKey)).total).toEqual([]);
});

test("the usage counts a repeated request of a visitor once, and a refused one never", async () => {
  const ctx = await givenForm({ limit: 1 });
  for (let n = 0; n < 3; n++) await ctx.ask("ann@example.com", { key: "one" });
  expect((await ctx.ask("bob@example.com")).statusCode).toBe(429);
  await whenWorked(ctx);

  expect((await readForms(ctx)).total).toMatchObject([{ go: 1, ask: 0, no: 0 }]);
});

test("the usage counts the addresses of a back end apart from those of a page", async () => {
  const ctx = await givenForm();
  await ctx.ask("ann@example.com");
  await send(ctx.world, ROUTE, { key: ctx.liveKey, body: { email: "bob@example.com" } });

  const { total } = await readForms(ctx);

  expect(total.map(({ origin, go }: any) => [origin, go])).toEqual(
    expect.arrayContaining([
      [ORIGIN, 1],
      [undefined, 1],
    ]),
  );
});
