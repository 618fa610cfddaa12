import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { openapi } from "@mailproof/api/openapi/openapi";
import { audit } from "@mailproof/core/background/audit";
import { getBalance, TOTALS } from "@mailproof/core/money/balance";
import { toCredits } from "@mailproof/core/money/credits";
import type { Table } from "@mailproof/core/ports/table";
import { createApiServer } from "@mailproof/local/server/server";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { createJudge } from "../api/judge.ts";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { rejectDown } from "../app/faulty-worlds.ts";
import { given, givenKey } from "../app/given.ts";
import { formatCsv, givenUpload } from "../things/jobs.ts";
import { createDailyReport } from "../things/reports.ts";
import { whenSubscribed } from "../things/webhooks.ts";
import { createChances } from "./random.ts";
import { drawRequest, listOperations, type Request } from "./requests.ts";

// Goal: whatever is sent, the answer is one that the document promises; what is refused moves no money; and what the
// document calls wrong is refused.
// Method: requests are drawn from the document by a seed and go over a socket to the real server; Ajv says whether the
// answer fits. What the service hands out (ids, cursors, file keys) is drawn from in later requests. In some apps the
// table breaks now and then: what is answered then has to be in the document, too.
// To reproduce a failure: npx node test/fuzz/cli.ts --seed S --n N, with the seed and the number that it was reported with.

const document: any = openapi("http://127.0.0.1");
const judge = createJudge(document);
const operations = listOperations(document);
/** Where there is money there is most to lose: every third request is for one of these. */
const paid = operations.filter(({ operation }) => operation["x-price"] !== undefined);
const turns = operations.flatMap((one, at) =>
  at % 2 === 0 ? [one] : [one, paid[(at >> 1) % paid.length] ?? one],
);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "openapi");

const compiled = new Map<string, ValidateFunction>();

/** Whether the document calls the body of this request wrong. Formats are left to the service, which says more. */
const isWrong = ({ method, path, json }: Request): boolean => {
  if (json === undefined) return false;
  const part = encodeURIComponent(path.replaceAll("/", "~1"));
  const at = `/paths/${part}/${method.toLowerCase()}/requestBody/content/application~1json/schema`;
  const validate = compiled.get(at) ?? ajv.compile({ $ref: `openapi#${at}` });
  compiled.set(at, validate);
  return !validate(json);
};

export type Played = {
  readonly requests: number;
  readonly wrong: readonly string[];
  /** How often each operation answered with each status. */
  readonly answers: ReadonlyMap<string, number>;
  /** The codes of all failures. */
  readonly codes: ReadonlySet<string>;
};

type TestContext = Awaited<ReturnType<typeof givenContext>>;

/**
 * Apps take turns: a rich one, one that soon has nothing left, one whose minutes are soon used up, and one whose
 * table breaks in this share of requests. Some have as many webhooks as they may, and one receives no mail.
 */
const KINDS = [
  { balance: 100_000, plan: "scale", pauseMs: 2_000, breaks: 0, webhooks: 20, mail: true },
  { balance: 20, plan: "pro", pauseMs: 2_000, breaks: 0, webhooks: 0, mail: true },
  { balance: 1_000, plan: "free", pauseMs: 400, breaks: 0, webhooks: 20, mail: false },
  { balance: 100_000, plan: "scale", pauseMs: 2_000, breaks: 0.4, webhooks: 0, mail: true },
] as const;

/** Reports that a receiver could have made, in base64. */
const REPORTS = [1, 2].map((daysBefore) =>
  Buffer.from(createDailyReport({ daysBefore })).toString("base64"),
);

const givenContext = async (seed: number) => {
  const { pauseMs, breaks, webhooks, mail, ...kind } =
    KINDS[Math.abs(seed) % KINDS.length] ?? KINDS[0];
  const ctx = await given(kind);
  for (let nth = 0; nth < webhooks; nth++) await whenSubscribed(ctx, { events: ["dmarc.failed"] });
  const chances = createChances(seed);
  const table = createBrittleTable(ctx.table);
  const settings = mail ? ctx.world.settings : { ...ctx.world.settings, mailDomain: null };
  const world = { ...ctx.world, table: table.port, settings };
  const listening = createApiServer(world, () => undefined).listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const scoped = await givenKey(ctx.world, ctx.account, { scopes: ["verification:read"] });
  const uploads = [];
  for (const key of [ctx.liveKey, ctx.testKey])
    uploads.push(await givenUpload(ctx, key, formatCsv(["ann@example.com", "bo@example.com"])));
  const pools = new Map<string, string[]>([
    ["email", ["ann@example.com", "invalid@example.com", "info@x.org", "no address", "Ann@Ünï.de"]],
    ["domain", ["example.com", "weak.example", "nospf.example", "münchen.de", "listed.example"]],
    ["sending_ip", ["192.0.2.1", "198.51.100.7", "::1", "300.1.1.1"]],
    ["url", ["https://hooks.example.com/a", "https://h.example/", "http://h.example", "nothing"]],
    ["webhook_url", ["https://hooks.example.com/job", "https://a:b@h.example/"]],
    ["token", ["test-controlled", "no token"]],
    ["origin", ["https://shop.example", "http://localhost:3000", "https://shop.example/"]],
    ["first_name", ["Ann", "Catchall", "123", "Ada"]],
    ["last_name", ["Lee", "O'Neil", "Ö"]],
    ["occurred_at", ["2026-11-20T09:00:00Z", "2026-11-20T09:00:00+01:00", "2020-01-01T00:00:00Z"]],
    ["delivered_at", ["2026-11-20T08:00:00Z"]],
    ["from", ["2026-11-01", "2026-11-21", "2025-01-01"]],
    ["to", ["2026-11-21", "2026-11-30"]],
    ["since", ["2026-11-20T00:00:00Z", "2026-11-20"]],
    ["file_name", ["list.csv", "list.TXT", "list.xlsx", "../list.csv"]],
    [
      "file_key",
      [
        ...uploads,
        "uploads/live/acc_9/upl_1.bGlzdC5jc3Y.csv",
        "uploads/live/acc_1/upl_99.bGlzdC5jc3Y.csv",
      ],
    ],
    ["include_results", ["true", "false", "False"]],
    ["format", ["csv", "json", "JSON"]],
    [
      "filter",
      ["all", "valid", "Risky", "score:0-100", "send:yes,careful,no", "origin:new,earlier"],
    ],
    ["row", ["1", "2", "3"]],
    ["q", ["example", "verify"]],
    ["content", REPORTS],
  ]);
  /** Before each request: whether, and where in it, the table breaks. */
  const breakSometimes = () =>
    table.breakAt(chances.sometimes(breaks) ? chances.upTo(CALLS_MAX) : null);
  return {
    ...ctx,
    scoped,
    listening,
    port,
    pools,
    pauseMs,
    chances,
    maybeBreak: breakSometimes,
    brittle: table,
  };
};

/** Ids and cursors that come back in an answer, by where they can be sent to. */
const HANDED_OUT: readonly (readonly [pool: string, found: RegExp])[] = [
  ["jobs.id", /"job_id":"([^"]+)"/g],
  ["checks.id", /"check_id":"([^"]+)"/g],
  ["monitors.id", /"monitor_id":"([^"]+)"/g],
  ["tests.id", /"test_id":"([^"]+)"/g],
  ["webhooks.id", /"id":"(whk_[^"]+)"/g],
  ["delivery_id", /"id":"(dlv_[^"]+)"/g],
  ["next_key", /"next_key":"([^"]+)"/g],
  ["offset", /"next_offset":"([^"]+)"/g],
  ["file_key", /"file_key":"([^"]+)"/g],
];

const REMEMBERED_MAX = 40;

const remember = ({ pools }: TestContext, { method, path }: Request, text: string): void => {
  // Not those that are listed: the fuzzer would revoke the keys it uses.
  const own: typeof HANDED_OUT =
    method === "POST" && path === "/v1/api-keys" ? [["api-keys.id", /"key_id":"([^"]+)"/g]] : [];
  for (const [pool, found] of [...HANDED_OUT, ...own])
    for (const [, id = ""] of text.matchAll(found))
      pools.set(pool, [...(pools.get(pool) ?? []).slice(-REMEMBERED_MAX), id]);
};

/** An app is played in for so many requests; then another is built. */
export const CONTEXT_REQUESTS = 500;
const WORK_EVERY = 25;

/** All of them in one app. */
export const play = async (seed: number, requests: number): Promise<Played> => {
  const ctx = await givenContext(seed);
  const wrong: string[] = [];
  const answers = new Map<string, number>();
  const codes = new Set<string>();
  try {
    for (let nth = 0; nth < requests; nth++) {
      const operation = turns[nth % turns.length];
      if (!operation) throw new Error("the document has no operation");
      const keys = { live: ctx.liveKey, test: ctx.testKey, scoped: ctx.scoped };
      const request = drawRequest({ document, ...ctx }, keys, operation);
      const { status, code, faults } = await sendRequest(ctx, request);
      if (code !== undefined) codes.add(code);
      const answer = `${request.method} ${request.path} ${status}`;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      wrong.push(...faults.map((fault) => formatFault(seed, nth, request, fault)));
      ctx.later(ctx.chances.upTo(ctx.pauseMs));
      if (nth % WORK_EVERY === 0) await whenWorked(ctx);
    }
    await whenSettled(ctx);
    const { violations } = await audit(ctx.table, ctx.world.now());
    wrong.push(
      ...violations.map(
        ({ law: invariant }) => `seed ${seed}: the ledger breaks a law: ${invariant}`,
      ),
    );
  } finally {
    ctx.listening.closeAllConnections();
    ctx.listening.close();
  }
  return { requests, wrong, answers, codes };
};

const LOOKS = 12;

/** What was begun comes to its end. Not quiet: a domain that is watched is due repeatedly. */
const whenSettled = async (ctx: TestContext): Promise<void> => {
  for (let look = 0; look < LOOKS; look++) {
    await whenWorked(ctx);
    ctx.later(10 * 60_000);
    await whenReconciled(ctx);
  }
  await whenWorked(ctx);
};

const formatFault = (seed: number, nth: number, request: Request, fault: string): string => {
  const { method, url, how, json } = request;
  const body = json === undefined ? "" : ` ${(JSON.stringify(json) ?? "").slice(0, 500)}`;
  return `seed ${seed}, request ${nth}, ${how}: ${method} ${url}${body}: ${fault}`;
};

const sendRequest = async (ctx: TestContext, request: Request) => {
  const { method, path, url, headers, body } = request;
  const before = await getBalance(ctx.table, ctx.account);
  ctx.maybeBreak();
  const answer = await fetch(`http://127.0.0.1:${ctx.port}${url}`, {
    method,
    headers,
    redirect: "manual",
    ...(body !== undefined && { body }),
  });
  const { status } = answer;
  // A download is cut off where the table breaks, so that no program takes a part for the whole.
  const text = await answer.text().catch((cause: unknown) => {
    if (!ctx.brittle.isBroken()) throw cause;
    return undefined;
  });
  if (text === undefined) return { status, faults: [] };
  const after = await getBalance(ctx.table, ctx.account);
  remember(ctx, request, text);

  const faults = [
    ...judge(method, path, { status, headers: Object.fromEntries(answer.headers), text }),
  ];
  // 501 is what a server without a mail domain answers.
  if (status >= 500 && status !== 501 && !ctx.brittle.isBroken())
    faults.push(`${status}: ${text} ${readLastFailure(ctx)}`);
  // Cancelling takes nothing, and refunds.
  const isRefund = path.endsWith("/cancel") && before.available <= after.available;
  if (!isRefund && isFree(status, text) && TOTALS.some((total) => before[total] !== after[total]))
    faults.push(`${status}, and yet the balance moved`);
  const charged = toCredits(before.available) - toCredits(after.available);
  // Where the table broke at the end of a verification that costs nothing, its hold is left for the reconciler.
  const left = ctx.brittle.isBroken() ? toCredits(after.held) - toCredits(before.held) : 0;
  if (!isRefund && status < 300 && ![charged, charged - left].includes(getCreditsUsed(text)))
    faults.push(`${status}: ${charged} credits were taken, and ${getCreditsUsed(text)} reported`);
  if (status < 300 && isWrong(request))
    faults.push(`${status}, though the document calls it wrong`);
  return { status, code: /"error":\{"code":"(\w+)"/.exec(text)?.[1], faults };
};

/** A client that is refused pays nothing; and so does one whose error from us says so. */
const isFree = (status: number, text: string): boolean =>
  (status >= 400 && status < 500) ||
  (status >= 500 && JSON.parse(text).error?.money === "nothing_charged");

/** What an answer says that it cost. A search that is returned again says what the first one cost. */
const getCreditsUsed = (text: string): number => {
  if (!text.startsWith("{")) return 0;
  const { data } = JSON.parse(text);
  return data?.idempotent_replay ? 0 : (data?.credits_used ?? 0);
};

const readLastFailure = ({ logged }: TestContext): string => {
  const cause = logged.findLast(({ event }) => event === "failure")?.fields["cause"];
  return cause instanceof Error ? (cause.stack ?? cause.message) : "";
};

/** Requests call the table about so often. */
export const CALLS_MAX = 12;

/** A table that breaks where `breakAt` says. */
const createBrittleTable = (sound: Table) => {
  let left: number | null = null;
  let isBroken = false;
  const shouldBreak = (): boolean => {
    if (left === null || left-- > 0) return false;
    isBroken = true;
    return true;
  };
  const table: Table = {
    get: (key) => (shouldBreak() ? rejectDown() : sound.get(key)),
    query: (query) => (shouldBreak() ? rejectDown() : sound.query(query)),
    write: (write) => (shouldBreak() ? rejectDown() : sound.write(write)),
    // Nothing was written, and the caller cannot know.
    transact: async (writes) => (shouldBreak() ? { outcome: "ambiguous" } : sound.transact(writes)),
  };
  return {
    port: table,
    /** After so many calls; null: never. From there on nothing of this request gets through. */
    breakAt: (calls: number | null): void => {
      left = calls;
      isBroken = false;
    },
    isBroken: () => isBroken,
  };
};
