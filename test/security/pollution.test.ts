import { parseJson } from "@mailproof/api/http/body";
import { afterEach, describe, expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { request, setupServer } from "../servers/listening.ts";
import {
  createProcessRequest,
  formatCsv,
  formatRows,
  givenUpload,
  readJob,
} from "../things/jobs.ts";
import { createBody, routesWithBody, setupTwoAccounts, useEverything } from "./used-account.ts";

// Goal: what a caller names is a name, whatever it means to JavaScript. It is refused, or carried as what it is; and
// no object of ours has a field afterwards that it did not have before.

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];
const POISON = '{"polluted":true,"isAdmin":true,"toJSON":"x","then":1}';

const fieldsOfAll = (): string =>
  [Object, Array, Function, String, Promise]
    .flatMap(({ prototype }) => Reflect.ownKeys(prototype).map(String))
    .join();
const BEFORE = fieldsOfAll();

afterEach(() => {
  if (fieldsOfAll() !== BEFORE)
    throw new Error(`what is everybody's has changed: ${fieldsOfAll()}`);
});

/** The body with the name in each object of it in turn, as text: only a parser makes a field of __proto__. */
const poisoned = (body: object, name: string): string[] => {
  const texts: string[] = [];
  const text = JSON.stringify(body);
  for (let at = text.indexOf("{"); at >= 0; at = text.indexOf("{", at + 1))
    texts.push(`${text.slice(0, at + 1)}"${name}":${POISON},${text.slice(at + 1)}`);
  return texts;
};

describe.each(NAMES)("the property name %s in a request", (name) => {
  test.each(routesWithBody)(
    "a field with the property name in a body of %s answers 400",
    async (route) => {
      const ctx = await given({ balance: 100 });
      const body = (await createBody(route, ctx, ctx.liveKey)) ?? {};

      for (const text of poisoned(body, name)) {
        const what = route.replace("{id}", "whk_1");
        const response = await send(ctx.world, what, {
          key: ctx.liveKey,
          body: parseJson(Buffer.from(text)),
        });

        expect(response.statusCode, `${text}: ${response.text}`).toBe(400);
        expect(response.error.message).toContain("is not a known field");
      }
    },
  );

  test("a query parameter with the property name answers 400", async () => {
    const { whenSent: whenRawSent, liveKey } = await setupServer();
    const key = [`X-Api-Key: ${liveKey}`];

    for (const query of [`${name}=1`, `${name}[polluted]=1`, `limit=1&${name}.polluted=1`])
      expect(
        (await whenRawSent(request(`GET /v1/jobs?${query} HTTP/1.1`, key))).statuses,
        `${query}`,
      ).toEqual([400]);
  });

  test("a header with the property name changes nothing", async () => {
    const { whenSent: whenRawSent, liveKey } = await setupServer();
    const headers = [`X-Api-Key: ${liveKey}`, `${name}: polluted`];

    expect((await whenRawSent(request("GET /v1/account HTTP/1.1", headers))).statuses).toEqual([
      200,
    ]);
  });

  test("an id, address or domain with the property name finds nothing", async () => {
    const { world, liveKey: key } = await given();
    const getStatus = async (what: string) => (await send(world, what, { key })).statusCode;

    expect(await getStatus(`GET /v1/jobs/${name}`)).toBe(404);
    expect(await getStatus(`GET /v1/deliverability/checks/${name}`)).toBe(404);
    expect(await getStatus(`DELETE /v1/webhooks/${name}`)).toBe(404);
    expect(await getStatus(`DELETE /v1/api-keys/${name}`)).toBe(404);
    expect(await getStatus(`GET /v1/activity/${name}@${name}.example`)).toBeLessThan(500);
    expect(await getStatus(`GET /v1/activity/domain/${name}`)).toBeLessThan(500);
  });

  test("a form part with the property name answers 400", async () => {
    const { world, liveKey: key } = await given();

    const response = await send(world, "POST /v1/verify/file", {
      key,
      form: [
        { name: "file", fileName: "a.csv", content: formatCsv(["ann@x.com"]) },
        { name, content: POISON },
      ],
    });

    expect(response.statusCode).toBe(400);
  });

  test("a file with a column named like an inherited property keeps the column", async () => {
    const ctx = await given({ balance: 10 });
    const { world, liveKey } = ctx;
    const file = `email,${name},other\nann@x.com,${name},1\n`;
    const fileKey = await givenUpload(ctx, liveKey, file);

    const response = await send(world, "POST /v1/verify/file", {
      key: liveKey,
      body: createProcessRequest(fileKey),
    });
    await whenWorked(ctx);
    const { text } = await send(world, "GET /v1/jobs/job_1/download", { key: liveKey });

    expect(response.statusCode).toBe(202);
    expect(formatRows(await readJob(ctx))).toEqual(["2 ann@x.com valid"]);
    expect(text.split("\r\n").slice(0, 2).join()).toContain(name);
  });

  test("a file finds a column of addresses with the property name only when that column exists", async () => {
    const ctx = await given({ balance: 10 });
    const { world, liveKey: key } = ctx;
    const named = await givenUpload(ctx, key, `${name},email\nann@x.com,bo@x.com\n`);
    const without = await givenUpload(ctx, key, "email\nann@x.com\n");
    const process = (fileKey: string) =>
      send(world, "POST /v1/verify/file", {
        key,
        body: createProcessRequest(fileKey, { email_column: name }),
      });

    expect((await process(named)).statusCode).toBe(202);
    expect((await process(without)).statusCode).toBe(400);
  });

  test("a search for a person with the property name never fails", async () => {
    const { world, liveKey: key } = await given({ balance: 100 });

    for (const body of [
      { first_name: name, last_name: "Lee", domain: "x.example" },
      { first_name: "Ann", last_name: name, domain: "x.example" },
      { first_name: "Ann", last_name: "Lee", domain: `${name}.example` },
    ])
      expect((await send(world, "POST /v1/find", { key, body })).statusCode).toBeLessThan(500);
  });

  test("a local part, domain, plan or event with the property name counts as a plain word", async () => {
    const { world, liveKey: key, testKey } = await given({ balance: 100 });

    for (const email of [`${name}@x.example`, `ann@${name}.example`, `${name}+${name}@${name}.com`])
      for (const one of [key, testKey])
        expect(
          (await send(world, "POST /v1/verify", { key: one, body: { email } })).statusCode,
          `${email}`,
        ).toBe(200);
    const event = { url: "https://h.example/", events: [name] };
    expect((await send(world, "POST /v1/webhooks", { key, body: event })).statusCode).toBe(400);
    const list = { query: { status: name }, key };
    expect((await send(world, "GET /v1/jobs", list)).statusCode).toBe(400);
  });
});

// Goal: a cursor opens the list that it was made for, to the account that it was made for, and nothing else.
// isolation.test.ts has other accounts' cursors; here are an account's own, and changed ones.

const setupReader = async () => {
  const ctx = await setupTwoAccounts();
  return { ...ctx, own: await useEverything(ctx, ctx.liveKey, "reader") };
};

const getStatus = async (
  { world, liveKey }: Awaited<ReturnType<typeof setupReader>>,
  path: string,
  query: Record<string, string>,
) => (await send(world, `GET /v1/jobs${path}`, { key: liveKey, query })).statusCode;

test("a cursor opens the next page of its own list", async () => {
  const ctx = await setupReader();
  const { job, offset, nextKey } = ctx.own;

  expect(await getStatus(ctx, "", { offset })).toBe(200);
  expect(await getStatus(ctx, `/${job}`, { next_key: nextKey })).toBe(200);
});

test("a cursor answers 400 at another route, job or filter of the same account", async () => {
  const ctx = await setupReader();
  const { job, fileJob, offset, nextKey } = ctx.own;

  expect(await getStatus(ctx, "", { offset: nextKey })).toBe(400);
  expect(await getStatus(ctx, `/${job}`, { next_key: offset })).toBe(400);
  expect(await getStatus(ctx, `/${fileJob}`, { next_key: nextKey })).toBe(400);
  expect(await getStatus(ctx, "", { offset, status: "completed" })).toBe(400);
});

const changeAt = (text: string, at: number): string =>
  `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;

test("a cursor answers 400 after a changed letter, a cut or an addition", async () => {
  const ctx = await setupReader();
  const { offset } = ctx.own;
  const changed = [
    ...Array.from(offset, (_letter, at) => changeAt(offset, at)),
    offset.slice(0, -1),
    offset.slice(0, 16),
    `${offset}A`,
    `${offset}=`,
    ` ${offset}`,
    "e30",
    "__proto__",
  ];

  for (const one of changed) expect(await getStatus(ctx, "", { offset: one }), `${one}`).toBe(400);
});

test("a cursor answers 400 under another secret of the operator", async () => {
  const ctx = await setupReader();
  const settings = { ...ctx.world.settings, cursorSecret: "another secret" };
  const { offset } = ctx.own;

  expect(await getStatus({ ...ctx, world: { ...ctx.world, settings } }, "", { offset })).toBe(400);
});
