import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { send, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { givenFileJob, givenSmallChunks, whenMessagesWorked } from "../things/export-jobs.ts";
import { givenChunked, type TestContext, whenBatched } from "../things/jobs.ts";

// What a job says of all its rows, and how a caller finds some of them: the counts, the filter, the text, the order.

const EMAILS = [
  "valid@shop.com",
  "invalid@shop.com",
  "full@shop.com",
  "zoe@other.com",
  "catch_all@shop.com",
  "info@other.com",
  "ann@nxdomain.com",
  "no address",
];

const ROUTE = "GET /v1/jobs/job_1";

const givenJob = async (emails: readonly string[] = EMAILS): Promise<TestContext> => {
  const ctx = await givenChunked({ rows: 3 });
  await whenBatched(ctx.world, ctx.liveKey, { emails });
  await whenWorked(ctx);
  return ctx;
};

type Query = Readonly<Record<string, string>>;

const whenRead = ({ world, liveKey }: TestContext, query: Query = {}) =>
  send(world, ROUTE, { key: liveKey, query });

/** Until those that are greylisted are given up. */
const whenRetried = async (ctx: TestContext): Promise<void> => {
  for (const minutes of [7, 31]) {
    ctx.later(minutes * 60_000);
    await whenReconciled(ctx);
    await whenWorked(ctx);
  }
};

const listEmails = ({ data }: { data: any }): string[] =>
  (data.results ?? []).map(({ email }: { email: string }) => email);

/** The addresses of every page, and how many pages there were. */
const readPages = async (ctx: TestContext, query: Query) => {
  const emails: string[] = [];
  let nextKey: string | undefined;
  let pages = 0;
  do {
    const page = await whenRead(ctx, { ...query, ...(nextKey && { next_key: nextKey }) });
    emails.push(...listEmails(page));
    nextKey = page.data.next_key;
    pages += 1;
  } while (nextKey !== undefined);
  return { emails, pages };
};

test("the job summary counts a job's rows by status, reason, score, provider and domain", async () => {
  const ctx = await givenJob();

  const { statusCode, data } = await whenRead(ctx);

  const { statuses, reasons, scores, top_domains } = data.summary;
  expect(statusCode).toBe(200);
  expect(statuses).toEqual({
    valid: 2,
    invalid: 3,
    risky: 1,
    unknown: 0,
    catch_all: 1,
    disposable: 0,
    role: 1,
    spam_trap: 0,
  });
  expect(reasons).toMatchObject({ accepted: 2, mailbox_full: 1, "syntax.no_at": 1 });
  expect(sum(Object.values(reasons))).toBe(EMAILS.length);
  expect(scores.map(({ from, to }: { from: number; to: number }) => [from, to])).toEqual([
    ...Array.from({ length: 9 }, (_, band) => [band * 10, band * 10 + 9]),
    [90, 100],
  ]);
  expect(sum(scores.map(({ count }: { count: number }) => count))).toBe(EMAILS.length);
  // The domain of a single address is left out.
  expect(top_domains).toEqual([
    { domain: "shop.com", count: 4 },
    { domain: "other.com", count: 2 },
  ]);
});

const sum = (counts: readonly unknown[]): number =>
  counts.reduce<number>((total, count) => total + Number(count), 0);

test("the job summary counts no deferred row", async () => {
  const ctx = await givenChunked({ rows: 3 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["greylisted@shop.com", "ann@shop.com"] });

  const before = await whenRead(ctx);
  await whenWorked(ctx);
  const after = await whenRead(ctx);

  expect(before.data.summary.statuses.valid).toBe(0);
  expect(before.data.summary.top_domains).toEqual([]);
  expect(after.data.summary.statuses.valid).toBe(1);
  expect(after.data.summary.top_domains).toEqual([{ domain: "shop.com", count: 1 }]);
  expect(after.data.deferred).toMatchObject({ count: 1 });
  expect(after.data.deferred.next_attempt_at).toBe("2026-11-21T00:06:00.000Z");
});

test("a job of one address returns no summary, and a row filter still finds its row", async () => {
  const ctx = await givenChunked();
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });
  await whenWorked(ctx);

  const { data } = await whenRead(ctx, { filter: "status:valid", q: "SLOW" });

  expect(data).not.toHaveProperty("summary");
  expect([data.matching_rows, listEmails({ data })]).toEqual([1, ["slow@x.com"]]);
});

test.each(asRows<[string, string, readonly string[]]>`
  one status | status:valid | [valid@shop.com zoe@other.com]
  either of two statuses | status:risky,status:role | [full@shop.com info@other.com]
  one reason | reason:mailbox_full | [full@shop.com]
  one advice | send:careful | [full@shop.com catch_all@shop.com info@other.com]
  a domain in another case | domain:Other.com | [zoe@other.com info@other.com]
  a suffix of a domain | domain:ther.com | []
  an advice and a domain | send:yes,domain:shop.com | [valid@shop.com]
  a status and another status's reason | status:valid,reason:mailbox_full | []
  a range of scores | score:0-10 | ${["invalid@shop.com", "ann@nxdomain.com", "no address"]}
  spaces around a term | ${" status : valid , reason : accepted "} | [valid@shop.com zoe@other.com]
`)(
  "a row filter by %s returns the matching rows and their number",
  async (_case, filter, emails) => {
    const ctx = await givenJob();

    const { data } = await whenRead(ctx, { filter });

    expect(listEmails({ data })).toEqual(emails);
    expect(data.matching_rows).toBe(emails.length);
    expect(data).not.toHaveProperty("next_key");
  },
);

/** The rows that have the value and match the other fields of the filter. */
const countRows = async (
  ctx: TestContext,
  { filter, ...query }: Query,
  field: string,
  value: string,
): Promise<number> => {
  const others = (filter ?? "").split(",").filter((term) => !term.startsWith(`${field}:`));
  const terms = [...others.filter(Boolean), `${field}:${value}`];
  return (await whenRead(ctx, { ...query, filter: terms.join(",") })).data.matching_rows;
};

test.each(asRows<[string, Query]>`
  no filter | ${{}}
  a filter by one field | ${{ filter: "send:careful" }}
  a filter by two fields | ${{ filter: "send:yes,domain:shop.com" }}
  a filter without matching rows | ${{ filter: "status:valid,reason:mailbox_full" }}
  a filter by several values of a field | ${{ filter: "reason:accepted,reason:mailbox_full,score:50-100" }}
  a text and a filter | ${{ q: "OTHER", filter: "status:role" }}
`)("each facet counts the rows that its value would leave: %s", async (_case, query) => {
  const ctx = await givenJob();

  const { facets } = (await whenRead(ctx, { ...query, facets: "true", include_results: "false" }))
    .data;

  for (const [field, counts] of Object.entries<Record<string, number>>(facets))
    for (const [value, count] of Object.entries(counts))
      expect([field, value, await countRows(ctx, query, field, value)]).toEqual([
        field,
        value,
        count,
      ]);
  const fields = ["send", "status", "reason", "provider", "score", "domain", "origin"];
  expect(Object.keys(facets)).toEqual(fields);
  expect(Object.keys(facets.domain)).toEqual(["shop.com", "other.com"]);
  expect(Object.keys(facets.status)).toHaveLength(8);
  const isWhole = !query["filter"] && !query["q"];
  expect(sum(Object.values(facets.reason)) === EMAILS.length || !isWhole).toBe(true);
});

test("the rows of a file contain its own columns on request, also sorted and filtered", async () => {
  const ctx = await givenSmallChunks();
  const text = "Name;E-Mail\nZoe; zoe@x.com\nAnn;ann@x.com\nTwice;ann@x.com\nBo;bo@x.com;more\n";
  const job = await givenFileJob(ctx, { text });
  await whenMessagesWorked(ctx);
  const read = async (query: Query) =>
    (await send(ctx.world, `GET /v1/jobs/${job}`, { key: ctx.liveKey, query })).data;

  const plain = await read({});
  const sorted = await read({ columns: "true", sort: "email", filter: "status:valid" });

  expect(plain).not.toHaveProperty("columns");
  expect(plain.results[0]).not.toHaveProperty("cells");
  expect(sorted.columns).toEqual(["Name", "E-Mail", "column_3"]);
  expect(sorted.results.map(({ row, cells }: any) => [row, cells])).toEqual([
    [3, ["Ann", "ann@x.com", ""]],
    [5, ["Bo", "bo@x.com", "more"]],
    [2, ["Zoe", " zoe@x.com", ""]],
  ]);
  const row = await send(ctx.world, `GET /v1/jobs/${job}/results/5`, { key: ctx.liveKey });
  expect(row.data.columns).toEqual({ Name: "Bo", "E-Mail": "bo@x.com", column_3: "more" });
});

test("the rows of a job without its input contain no columns", async () => {
  const ctx = await givenSmallChunks();
  const job = await givenFileJob(ctx, { text: "name,email\nAnn,ann@x.com\n" });
  await whenMessagesWorked(ctx);
  for (const key of ctx.blobs.keys()) if (key.startsWith("inputs/")) await ctx.blobs.remove(key);

  const query = { columns: "true" };
  const { data } = await send(ctx.world, `GET /v1/jobs/${job}`, { key: ctx.liveKey, query });

  expect(data.results[0]).toMatchObject({ email: "ann@x.com" });
  expect(data.results[0]).not.toHaveProperty("cells");
  expect(data).not.toHaveProperty("columns");
});

test("a page of rows ends with next_key before its rows reach 1.5 MB, and the pages list every row once", async () => {
  const ctx = await givenSmallChunks();
  const wide = Array.from({ length: 45 }, (_, n) => `ann${n}@x.com,${"x".repeat(90_000)}`);
  const job = await givenFileJob(ctx, { text: `email,note\n${wide.join("\n")}\n` });
  await whenMessagesWorked(ctx);

  const rows: number[] = [];
  const bytes: number[] = [];
  for (let next: string | undefined = ""; next !== undefined; ) {
    const query = { columns: "true", limit: "1000", ...(next !== "" && { next_key: next }) };
    const answer = await send(ctx.world, `GET /v1/jobs/${job}`, { key: ctx.liveKey, query });
    bytes.push(answer.text.length);
    rows.push(...answer.data.results.map(({ row }: any) => row));
    next = answer.data.next_key;
  }

  expect(rows).toEqual(Array.from({ length: 45 }, (_, at) => at + 2));
  expect(bytes).toHaveLength(3);
  expect(Math.max(...bytes)).toBeLessThan(1_600_000);
});

test.each<[string, readonly string[]]>([
  ["OTHER.com", ["zoe@other.com", "info@other.com"]],
  ["a@n", []],
  ["in", ["invalid@shop.com", "ann@nxdomain.com", "info@other.com"].toSorted()],
])("q=%s returns the addresses that contain it, in any case", async (q, emails) => {
  const ctx = await givenJob();

  const { data } = await whenRead(ctx, { q });

  expect(listEmails({ data }).toSorted()).toEqual(
    emails.filter((email) => email.includes(q.toLowerCase())).toSorted(),
  );
});

test.each([
  ["row", EMAILS],
  ["-row", EMAILS.toReversed()],
  ["email", EMAILS.toSorted()],
  ["-email", EMAILS.toSorted().toReversed()],
])("sort=%s returns the rows in that order on pages of any size", async (sort, emails) => {
  const ctx = await givenJob();

  const whole = await readPages(ctx, { sort });
  const single = await readPages(ctx, { sort, limit: "1" });

  expect(whole).toEqual({ emails, pages: 1 });
  expect(single).toEqual({ emails, pages: EMAILS.length });
});

test("the parameter skip starts the page of rows at a row inside the table", async () => {
  const ctx = await givenJob();

  const { data } = await whenRead(ctx, { sort: "email", skip: "3", limit: "2" });
  const beyond = await whenRead(ctx, { skip: "100" });

  expect(listEmails({ data })).toEqual(EMAILS.toSorted().slice(3, 5));
  expect(data.matching_rows).toBe(EMAILS.length);
  expect(beyond.data.matching_rows).toBe(EMAILS.length);
  expect(beyond.data).not.toHaveProperty("results");
});

test("a page of rows continues after its last row when rows were added before it", async () => {
  const ctx = await givenChunked({ rows: 3 });
  const emails = ["ann@x.com", "hugo@x.com", "greylisted@x.com", "zoe@x.com"];
  await whenBatched(ctx.world, ctx.liveKey, { emails });
  await whenWorked(ctx);
  const first = await whenRead(ctx, { sort: "email", limit: "2" });
  await whenRetried(ctx);

  const query = { sort: "email", limit: "2" };
  const next = await whenRead(ctx, { ...query, next_key: first.data.next_key });
  const { data } = await whenRead(ctx, query);

  expect(listEmails(first)).toEqual(["ann@x.com", "hugo@x.com"]);
  expect(listEmails(next)).toEqual(["zoe@x.com"]);
  expect(listEmails({ data })).toEqual(["ann@x.com", "greylisted@x.com"]);
});

test("deferred rows keep their places after a later attempt, and a filter finds every address", async () => {
  const emails = ["greylisted@x.com", "bea@x.com", "greylisted+2@x.com", "cleo@x.com"];
  const ctx = await givenChunked({ rows: 3 });
  await whenBatched(ctx.world, ctx.liveKey, { emails });
  await whenWorked(ctx);
  await whenRetried(ctx);

  const inOrder = await whenRead(ctx, { sort: "row" });
  const byEmail = await whenRead(ctx, { sort: "email" });
  const { data } = await whenRead(ctx, { q: "greylisted+2" });

  expect(listEmails(inOrder)).toEqual(emails);
  expect(listEmails(byEmail)).toEqual(emails.toSorted());
  expect(listEmails({ data })).toEqual(["greylisted+2@x.com"]);
  expect(inOrder.data.summary.statuses).toMatchObject({ valid: 2, unknown: 2 });
});

test.each([
  ["an unknown field", { filter: "name:ann" }, "filter"],
  ["an unknown advice", { filter: "send:maybe" }, "filter"],
  ["an unknown status", { filter: "status:good" }, "filter"],
  ["a field without a value", { filter: "reason:" }, "filter"],
  ["a score that is a word", { filter: "score:high" }, "filter"],
  ["an empty filter", { filter: "" }, "filter"],
  ["a malformed columns parameter", { columns: "yes" }, "columns"],
  ["a malformed facets parameter", { facets: "1" }, "facets"],
  ["an unknown order", { sort: "domain" }, "sort"],
  ["an empty text", { q: " " }, "q"],
  ["a text with a control character", { q: "\u007f" }, "q"],
  ["a text with a control character of C1", { q: "a\u0085b" }, "q"],
  ["a value with a control character", { filter: "reason:a\u0000" }, "filter"],
  ["a text longer than an address", { q: "a".repeat(255) }, "q"],
  ["a negative skip", { skip: "-1" }, "skip"],
  ["skip with a cursor", { skip: "1", next_key: "x" }, "skip"],
])(
  "a read of rows with %s answers 400 and states the parameter",
  async (_case, query: Query, field) => {
    const ctx = await givenJob();

    const { statusCode, error } = await whenRead(ctx, query);

    expect(statusCode).toBe(400);
    expect(error.details[0].field).toBe(field);
  },
);

test("a read of rows without results checks the filter and returns the counts", async () => {
  const ctx = await givenJob();

  const { statusCode, data } = await whenRead(ctx, {
    include_results: "false",
    filter: "status:valid",
  });

  expect(statusCode).toBe(200);
  expect(data).toHaveProperty("summary");
  expect(data).not.toHaveProperty("results");
});

test("a row filter does not find an erased address, and the job summary counts its domain without it", async () => {
  const ctx = await givenJob();

  await send(ctx.world, "DELETE /v1/data", {
    key: ctx.liveKey,
    query: { email: "Full@shop.com" },
  });
  await send(ctx.world, "DELETE /v1/data", { key: ctx.liveKey, query: { email: "zoe@other.com" } });

  const { data: found } = await whenRead(ctx, { q: "full" });
  const { data } = await whenRead(ctx, { filter: "status:risky" });
  expect(found.matching_rows).toBe(0);
  expect(listEmails({ data })).toEqual(["[erased]"]);
  expect(data.summary.statuses.risky).toBe(1);
  expect(data.summary.top_domains).toEqual([
    { domain: "shop.com", count: 3 },
    { domain: "other.com", count: 1 },
  ]);
});

test("the job summary removes a domain whose last address was erased", async () => {
  const ctx = await givenJob(["ann@ann-lee.example", "bob@ann-lee.example", "cleo@x.com"]);

  for (const email of ["ann@ann-lee.example", "bob@ann-lee.example"])
    await send(ctx.world, "DELETE /v1/data", { key: ctx.liveKey, query: { email } });

  const { data } = await whenRead(ctx);
  expect(data.summary.top_domains).toEqual([]);
  const stored = ctx.table.items().filter(({ sk }) => sk === "SUMMARY");
  expect(stored).toHaveLength(1);
  expect(JSON.stringify(stored)).not.toContain("ann-lee");
});

test("a read of rows answers 400 for a cursor of another filter, text or order", async () => {
  const ctx = await givenJob();
  const { data } = await whenRead(ctx, { sort: "email", limit: "1" });
  const { next_key } = data;

  const answers = await Promise.all(
    [
      { sort: "-email" },
      { sort: "email", q: "a" },
      { sort: "email", filter: "status:valid" },
      {},
    ].map((query) => whenRead(ctx, { ...query, next_key })),
  );

  expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400, 400, 400]);
});
