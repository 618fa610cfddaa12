import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { audit } from "@mailproof/core/background/audit";
import { type Lab, startLab } from "@mailproof/lab/lab";
import { createApp, type LocalWorld } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { upgradeFolder } from "@mailproof/local/storage/upgrade-folder";
import { parse } from "csv-parse/sync";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { createSend, type ReleaseRecord, serveWorld } from "../fixtures/play-release.ts";
import { createFolder } from "../servers/running.ts";

// Today's code opens the state of every release. A fixture is never written again: a change that needs another fixture
// would break the upgrade of every operator.

type ReleaseFixture = {
  readonly recorded: ReleaseRecord;
  readonly files: Readonly<Record<string, string>>;
};
type ReceivedCall = { readonly headers: Record<string, string>; readonly body: string };

const MINUTE_MS = 60_000;
const LOOK_MS = 5 * MINUTE_MS;
const LOOKS_MAX = 12;

const fixtures = globSync("test/fixtures/release-*.json.br").map((file) => {
  const fixture = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as ReleaseFixture;
  return [fixture.recorded.release, fixture] as const;
});

/** By SHA-256. A new release adds its own, and that of an earlier one stays. */
const WRITTEN: Readonly<Record<string, string>> = {
  "test/fixtures/release-0.2.0.json.br":
    "e65b31546999eb2226d7c10a007346f702e684ac6da7b3c98622c0181e221b32",
};

test("each fixture equals the one that its release wrote", () => {
  const found = globSync("test/fixtures/release-*.json.br").map((file) => [
    file,
    createHash("sha256").update(readFileSync(file)).digest("hex"),
  ]);

  expect(Object.fromEntries(found)).toEqual(WRITTEN);
});

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

/** A copy of what was left, a minute later. */
const whenUpgraded = async ({ recorded, files }: ReleaseFixture) => {
  const folder = createFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), Buffer.from(content, "latin1"));
  }
  const later = (ms: number) => vi.setSystemTime(Date.now() + ms);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(recorded.written_at) + MINUTE_MS });
  onTestFinished(() => void vi.useRealTimers());

  const calls: ReceivedCall[] = [];
  await upgradeFolder(folder);
  const ctx = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", lab);
  const https: LocalWorld["https"] = {
    check: async () => undefined,
    call: async ({ headers, body = "" }) => {
      calls.push({ headers: { ...headers }, body });
      const answer = { contentType: "", retryAfter: null, body: "", isComplete: true };
      return { kind: "answer", status: 200, ...answer };
    },
  };
  const world = { ...ctx.world, https };
  await world.queue.releaseAbandoned();
  const { baseUrl, close } = await serveWorld(world);
  onTestFinished(() => {
    close();
    ctx.close();
  });
  return {
    world,
    queue: world.queue,
    baseUrl,
    ask: createSend(baseUrl, recorded.live_key),
    received: calls,
    later,
  };
};

test("the fixtures include the first release", () => {
  expect(fixtures.map(([release]) => release)).toContain("0.2.0");
});

describe.each(fixtures)("the state of release %s", (_, fixture) => {
  const { recorded } = fixture;

  test("today's code accepts the release's keys and returns the responses of its release", async () => {
    const { ask, world } = await whenUpgraded(fixture);

    for (const { call, status, answer } of recorded.read) {
      const reply = await ask(call);
      expect(reply, `${call.path}`).toMatchObject({
        status,
        answer,
      });
    }
    const byTestKey = await ask({ method: "GET", path: "/v1/account", key: recorded.test_key });
    expect(byTestKey.answer.data.account_id).toBe(recorded.account_id);
    expect(await audit(world.table, world.now())).toMatchObject({ ok: true, violations: [] });
  });

  test("today's code downloads the release's results beside the columns of the list", async () => {
    const { baseUrl } = await whenUpgraded(fixture);
    const getRows = (text: string) => parse(text, { columns: true, bom: true }) as object[];

    for (const { path, text } of recorded.downloads) {
      const response = await fetch(baseUrl + path, { headers: { "x-api-key": recorded.live_key } });
      expect(getRows(await response.text())).toMatchObject(getRows(text));
    }
  });

  test("today's code replays a paid request with an Idempotency-Key for free", async () => {
    const { ask } = await whenUpgraded(fixture);
    const balance = async () =>
      (await ask({ method: "GET", path: "/v1/account" })).answer.data.credits;
    const before = await balance();

    for (const { call, status, answer } of recorded.paid)
      expect(await ask(call)).toMatchObject({
        status,
        answer: { data: { ...answer.data, credits_used: 0, idempotent_replay: true } },
      });

    expect(await balance()).toEqual(before);
  });

  test("today's code completes the release's work in progress at the held price and calls its webhook", async () => {
    const { ask, world, queue, received: calls, later } = await whenUpgraded(fixture);
    const jobs = Object.values(recorded.unfinished);
    const statuses = async () => {
      const found = jobs.map((id) => ask({ method: "GET", path: `/v1/jobs/${id}` }));
      return (await Promise.all(found)).map(({ answer }) => answer.data.status as string);
    };

    for (let look = 0; look < LOOKS_MAX; look++) {
      await whenWorked({ world, queue });
      await whenReconciled({ world });
      later(LOOK_MS);
    }
    const { answer } = await ask({ method: "GET", path: "/v1/account" });
    const done = calls.map(({ body }) => JSON.parse(body) as { data: { job_id?: string } });
    const signed = calls.map(({ headers, body }) => {
      vi.setSystemTime(Number(headers["webhook-timestamp"]) * 1000);
      return new Webhook(recorded.webhook.secret).verify(body, headers);
    });

    expect(await statuses()).toEqual(["completed", "completed"]);
    expect(answer.data.credits.held).toBe(0);
    expect(done.map(({ data }) => data.job_id)).toEqual(expect.arrayContaining(jobs));
    expect(signed).toHaveLength(calls.length);
    expect(await audit(world.table, world.now())).toMatchObject({ ok: true, violations: [] });
  });
});
