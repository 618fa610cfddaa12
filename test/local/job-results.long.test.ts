import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { assertWritable } from "@mailproof/local/cli/output";
import { PROGRAM } from "@mailproof/local/installation";
import { expect, onTestFinished, test } from "vitest";
import { serveAccounts } from "../servers/proxied-server.ts";
import { createFolder, spawnMailproof, whenRun } from "../servers/running.ts";

// Over a real service and its lab: one address is done at once, and one waits for a mail server that greylists.

const ZONE = "lab.mailproof.test";

const whenAccountOpened = serveAccounts();

/** Nobody else has asked for these addresses: a second try would pass the greylist. */
let lists = 0;
const createList = (): string => {
  lists++;
  return `email\nada.lovelace+${lists}@valid.${ZONE}\nada.lovelace+${lists}@greylist.${ZONE}\n`;
};

const givenService = async () => {
  const { baseUrl, liveKey, client } = await whenAccountOpened();
  const folder = createFolder();
  const file = join(folder, "list.csv");
  writeFileSync(file, createList());
  const env = { MAILPROOF_DIR: folder, MAILPROOF_API: baseUrl, MAILPROOF_KEY: liveKey };
  return { env, folder, file, out: join(folder, "results.csv"), client };
};

/** A job with one finished row and one that waits. */
const givenRunningJob = async () => {
  const service = await givenService();
  const { env, file, client } = service;
  const { out: printed, ...output } = await whenRun(env, "file", file, "--no-wait");
  const id = printed.trim();
  for (;;) {
    const { progress } = await client.getJob({ id, include_results: false });
    if (progress.processed === 1) return { ...service, id, printed, ...output };
    await setTimeout(50);
  }
};

test("mailproof file --no-wait prints the id alone, leaves no state, and explains how to wait for the results", async () => {
  const { env, folder, printed, code, err, id } = await givenRunningJob();

  expect(printed).toMatch(/^job_[\w-]+\n$/);
  expect(code).toBe(0);
  expect(err).toContain(`  ${PROGRAM} jobs ${id} --api ${env.MAILPROOF_API}\n`);
  expect(readdirSync(folder)).toEqual(["list.csv"]);
});

test("mailproof jobs --partial writes the finished rows and their number while the job continues", async () => {
  const { env, id, out } = await givenRunningJob();

  const { code, err } = await whenRun(env, "jobs", id, "--partial", "--out", out);

  expect(code).toBe(0);
  expect(err).toMatch(
    new RegExp(
      `^1 of 2 rows are finished \\(50%\\)\\. 1 deferred, next attempt at .*\\. ${id} continues\\. For all rows:\n`,
    ),
  );
  expect(err).toContain(`--out ${out} --force\n`);
  expect(readFileSync(out, "utf8").trim().split("\r\n")).toHaveLength(2);
});

test("mailproof jobs --partial --json prints the finished rows, and --force replaces an older output", async () => {
  const { env, id, out } = await givenRunningJob();
  writeFileSync(out, "older");
  const partial = ["jobs", id, "--partial", "--out", out];

  const lines = await whenRun(env, "jobs", id, "--partial", "--json");
  const refused = await whenRun(env, ...partial);
  const forced = await whenRun(env, ...partial, "--force");

  expect(lines.code).toBe(0);
  expect(JSON.parse(lines.out)).toMatchObject({ row: 2, status: "valid" });
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("already exists") });
  expect(forced.code).toBe(0);
  expect(readFileSync(out, "utf8")).toMatch(/^email,mailproof_email,status/);
});

test("mailproof file --partial starts the job once, and each further call reads its current rows", async () => {
  const { env, file, out, client } = await givenService();
  const partial = ["file", file, "--out", out, "--partial", "--force"];

  const calls = [await whenRun(env, ...partial)];
  while (calls.at(-1)?.code !== 0) {
    expect(calls.at(-1)).toMatchObject({ code: 1, err: expect.stringContaining("0 of 2 rows") });
    expect(existsSync(out)).toBe(false);
    calls.push(await whenRun(env, ...partial));
  }
  const complete = await whenRun(env, "file", file, "--out", out);

  expect(readFileSync(out, "utf8").trim().split("\r\n")).toHaveLength(2);
  expect((await client.listJobs()).total).toBe(1);
  expect(complete).toMatchObject({
    code: 2,
    err: expect.stringMatching(/already exists, and job_[\w-]+ was started for it\. Add --force/),
  });
});

test("mailproof file --max-wait 0 ends the job after one attempt, with unknown instead of deferred rows", async () => {
  const { env, file } = await givenService();

  const { code, out, err } = await whenRun(env, "file", file, "--max-wait", "0", "--json");
  const tooLong = await whenRun(env, "file", file, "--max-wait", "1441");

  expect(code).toBe(0);
  expect(err).toContain("2 addresses: 1 valid, 0 invalid, 0 risky, role or catch-all, 1 unknown.");
  expect(out.trim().split("\n")).toHaveLength(2);
  expect(tooLong).toMatchObject({
    code: 2,
    err: expect.stringContaining("--max-wait must be a number of minutes from 0 to 1440"),
  });
});

test("mailproof file --continues charges only the new address, and --dry-run states that price before", async () => {
  const { env, folder, file, client } = await givenService();
  const first = `email\nada.lovelace+c@valid.${ZONE}\nalan.turing+c@valid.${ZONE}\n`;
  writeFileSync(file, first);
  const { job_id } = JSON.parse((await whenRun(env, "file", file, "--no-wait", "--json")).out);
  await client.waitForJob({ id: job_id });
  const next = join(folder, "next.csv");
  writeFileSync(next, `${first}grace.hopper+c@valid.${ZONE}\n`);

  const quote = await whenRun(env, "file", next, "--continues", job_id, "--dry-run", "--json");
  const done = await whenRun(env, "file", next, "--continues", job_id, "--json");
  const alone = await whenRun(env, "file", next, "--fresh-days", "3");

  expect(JSON.parse(quote.out)).toMatchObject({
    credits_needed: 1,
    new: 1,
    kept: 2,
    again: 0,
    removed: 0,
    changed: 0,
  });
  expect(done.err).toContain("Charged: 1 credit.");
  expect(done.out.trim().split("\n")).toHaveLength(3);
  expect(alone).toMatchObject({ code: 2, err: expect.stringContaining("--continues JOB") });
});

test("mailproof jobs --no-wait prints a job's current state without its results", async () => {
  const { env, id } = await givenRunningJob();

  const { code, out } = await whenRun(env, "jobs", id, "--no-wait");

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    job_id: id,
    status: "processing",
    progress: { total: 2, processed: 1 },
  });
  expect(JSON.parse(out)).not.toHaveProperty("results");
});

test("mailproof jobs cancel ends a job and prints its refund", async () => {
  const { env, id, out: file } = await givenRunningJob();

  const { code, out } = await whenRun(env, "jobs", "cancel", id);
  const wrong = [
    await whenRun(env, "jobs", "cancel"),
    await whenRun(env, "jobs", "cancel", id, "--out", file),
  ];

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    job_id: id,
    status: "cancelled",
    progress: { total: 2, processed: 1 },
    credits_refunded: 1,
  });
  expect(wrong.map((one) => one.code)).toEqual([2, 2]);
});

test("mailproof jobs --rows --again verifies rows again, waits for them, and writes the whole job", async () => {
  const { env, file, out, client } = await givenService();
  const done = await whenRun(env, "file", file, "--max-wait", "0", "--json");
  const [row] = done.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [job] = (await client.listJobs({ limit: 1 })).jobs;
  const id = String(job?.job_id);

  const again = await whenRun(env, "jobs", id, "--rows", "valid", "--again", "-o", out);
  const wrong = [
    await whenRun(env, "jobs", id, "--again"),
    await whenRun(env, "jobs", "--rows", "valid", "--again"),
    await whenRun(env, "jobs", id, "--rows", "nonsense", "--again"),
  ];

  expect(again).toMatchObject({ code: 0 });
  expect(again.err).toMatch(/^1 row is verified again as job_\S+, for 1 credit\.\n/);
  const [, first, second, ...more] = readFileSync(out, "utf8").trim().split("\n");
  expect(more).toEqual([]);
  expect(first).toContain("valid");
  expect(second).toContain("greylisted");
  const { results = [] } = await client.getJob({ id });
  expect(String(results[0]?.verified_at) > String(row.verified_at)).toBe(true);
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 3]);
});

test("mailproof verify reports a slow address, and Ctrl-C prints how to wait for its job", async () => {
  const { promise: waiting, resolve: waits } = Promise.withResolvers<void>();
  const pending = { status: "pending", job_id: "job_1" };
  const job = { job_id: "job_1", status: "processing", progress: { total: 1, processed: 0 } };
  const service = createServer(({ method }, response) => {
    response.end(JSON.stringify({ success: true, data: method === "POST" ? pending : job }));
    if (method === "GET") waits();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void service.close());
  await once(service, "listening");
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const env = { MAILPROOF_DIR: createFolder(), MAILPROOF_API: url, MAILPROOF_KEY: "k" };
  const child = spawnMailproof(["verify", "a@b.c"], env);
  const err = text(child.stderr);
  await waiting;

  const ended = once(child, "exit");
  child.kill("SIGINT");

  expect(await ended).toEqual([130, null]);
  expect(await err).toBe(
    `job_1: a@b.c takes longer. Waiting for its result.\nInterrupted.\njob_1 continues and is already paid for. To wait for it again:\n\n  mailproof jobs job_1 --api ${url} --json\n`,
  );
});

test("mailproof jobs --partial writes all results of a complete job", async () => {
  const { env, file } = await givenService();
  writeFileSync(file, "email\nno-such@nosuch.test\n");
  const { out: printed } = await whenRun(env, "file", file, "--no-wait", "--json");
  const { job_id: id } = JSON.parse(printed) as { job_id: string };
  await whenRun(env, "jobs", id);

  const { code, out, err } = await whenRun(env, "jobs", id, "--partial");

  expect(code).toBe(0);
  expect(out).toMatch(/^email,mailproof_email,status/);
  expect(err).toMatch(/^1 address: 0 valid, 1 invalid, 0 risky, role or catch-all, 0 unknown\.\n/);
});

test("the command line never replaces a pipe or a device with results, even with --force", () => {
  const pipe = join(createFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);

  const sentence = (file: string) => `${file} is a device or a pipe. Leave out --out`;
  for (const file of [pipe, "/dev/null"])
    expect(() => assertWritable(file, { force: true })).toThrow(sentence(file));
  expect(statSync(pipe).isFIFO()).toBe(true);
});
