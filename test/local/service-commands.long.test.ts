import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createClient } from "@mailproof/client/client";
import { expect, onTestFinished, test } from "vitest";
import { serveAccounts, whenLosing } from "../servers/proxied-server.ts";
import { createFolder, spawnMailproof, whenCommandedWith, whenRun } from "../servers/running.ts";

// The commands over a real service, with test keys: the same words come to the same results each time.

const LIST = "Name;E-Mail\r\nAda;ann@example.com\r\nNobody;invalid@example.com\r\nNone;none\r\n";
/** A live key asks mail servers, and only the lab's can be reached without the internet. */
const LIVE_LIST = LIST.replace("ann@", "ada.lovelace@")
  .replace("invalid@", "nobody@")
  .replaceAll("example.com", "valid.lab.mailproof.test");

const whenAccountOpened = serveAccounts();

/** A service, a folder with a list, and the settings that name both. */
const whenServed = async (mode: "live" | "test" = "test") => {
  const { baseUrl: url, liveKey, testKey } = await whenAccountOpened();
  const folder = createFolder();
  const file = join(folder, "list.csv");
  writeFileSync(file, mode === "live" ? LIVE_LIST : LIST);
  const key = mode === "live" ? liveKey : testKey;
  const env = { MAILPROOF_DIR: folder, MAILPROOF_API: url, MAILPROOF_KEY: key };
  const client = createClient({ baseUrl: url, key });
  return { env, folder, file, out: join(folder, "results.csv"), client, url, key };
};

const firstCells = (csv: string) =>
  csv
    .trim()
    .split("\r\n")
    .map((line) => line.split(/[,;]/).slice(0, 4).join(";"));

test("mailproof file sends a list, writes results beside its own columns and never shows the key", async () => {
  const { folder, file, out, url, key } = await whenServed();

  const { code, err } = await whenCommandedWith(
    { MAILPROOF_DIR: folder },
    "file",
    file,
    "--column",
    "E-Mail",
    "--out",
    out,
    "--api",
    url,
    "--key",
    key,
  );

  expect(err.replace(/job_[\w-]+/, "job_…")).toBe(
    'job_…: 2 addresses are being verified. Charged: 0 credits. Left out: 1 row without an address. Skipped: row 4 "none".\n2 addresses: 1 valid, 1 invalid, 0 risky, role or catch-all, 0 unknown.\nSend: 1 yes, 0 careful, 1 no.\nReasons: 1 accepted, 1 mailbox_not_found.\nDomains: 2 example.com.\n',
  );
  expect(code).toBe(0);
  expect(firstCells(readFileSync(out, "utf8"))).toEqual([
    "Name;E-Mail;email;status",
    "Ada;ann@example.com;ann@example.com;valid",
    "Nobody;invalid@example.com;invalid@example.com;invalid",
  ]);
});

test("mailproof file names the verified one of two address columns and how to choose", async () => {
  const { env, file } = await whenServed();
  writeFileSync(
    file,
    "work,home\nann@example.com,bob@example.com\ncy@example.com,di@example.com\n",
  );

  const { err } = await whenRun(env, "file", file);

  expect(err).toMatch(
    /The addresses are those of column (?:work\. Not verified: home|home\. Not verified: work); to choose columns, add --column NAME for each\.\n/,
  );
});

test("mailproof verify --file sends a list and writes CSV to a pipe and JSON to .jsonl", async () => {
  const { env, file, folder } = await whenServed();
  const lines = join(folder, "results.jsonl");

  const csv = await whenRun(env, "verify", "--file", file);
  const json = await whenRun(env, "file", file, "--out", lines);

  expect(firstCells(csv.out)[1]).toBe("Ada;ann@example.com;ann@example.com;valid");
  expect(json.code).toBe(0);
  expect(JSON.parse(readFileSync(lines, "utf8").split("\n")[1] ?? "")).toMatchObject({
    row: 3,
    email: "invalid@example.com",
    status: "invalid",
  });
});

test("mailproof file does not replace a file that appears at the output before the results", async () => {
  const { env, file, out, url } = await whenServed();
  const proxy = await whenLosing(url, ({ route }) => {
    if (route.endsWith("/download")) writeFileSync(out, "another's");
    return false;
  });
  const proxied = { ...env, MAILPROOF_API: proxy.url };

  const { code, err } = await whenRun(proxied, "file", file, "--out", out);

  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("already exists") });
  expect(readFileSync(out, "utf8")).toBe("another's");
});

test("mailproof verify prints single addresses as lines of JSON, or as CSV in a file", async () => {
  const { env, out } = await whenServed();

  const json = await whenRun(env, "verify", "--evidence", "ann@example.com");
  const csv = await whenRun(env, "verify", "--out", out, "full@example.com", "none");

  expect(json).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse(json.out)).toMatchObject({ status: "valid", evidence: { rule: "sandbox" } });
  expect(csv.code).toBe(0);
  expect(firstCells(readFileSync(out, "utf8")).map((line) => line.split(";").slice(0, 2))).toEqual([
    ["email", "status"],
    ["full@example.com", "risky"],
    ["none", "invalid"],
  ]);
});

test("mailproof verify waits for the job of a slow address", async () => {
  const answers = [
    { status: "pending", job_id: "job_1" },
    { job_id: "job_1", status: "completed", progress: {} },
    {
      job_id: "job_1",
      status: "completed",
      results: [{ row: 1, email: "a@b.c", status: "valid" }],
    },
  ];
  const service = createServer((_, answer) =>
    answer.end(JSON.stringify({ success: true, data: answers.shift() })),
  ).listen(0, "127.0.0.1");
  onTestFinished(() => void service.close());
  await once(service, "listening");
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const env = { MAILPROOF_DIR: createFolder(), MAILPROOF_API: url, MAILPROOF_KEY: "k" };

  const { code, out } = await whenRun(env, "verify", "a@b.c");

  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ row: 1, email: "a@b.c", status: "valid", send: "yes" });
});

test("mailproof check, find and jobs accept the same service options", async () => {
  const { env, client } = await whenServed();
  const { job_id } = await client.verifyBatch({ emails: ["ann@example.com"], name: "one" });
  await client.waitForJob({ id: job_id });

  const checked = await whenRun(env, "check", "example.com", "--ip", "192.0.2.1");
  const found = await whenCommandedWith(env, "find", "Ann", "Lee", "example.com");
  const none = await whenRun(env, "find", "Invalid", "Lee", "example.com");
  const jobs = await whenRun(env, "jobs");
  const job = await whenRun(env, "jobs", job_id, "--json");

  expect(JSON.parse(checked.out)).toMatchObject({ domain: "example.com", sending_ip: "192.0.2.1" });
  expect(JSON.parse(found.out)).toMatchObject({ email: "ann.lee@example.com", status: "valid" });
  expect({ code: none.code, ...JSON.parse(none.out) }).toMatchObject({ code: 1, email: null });
  expect(JSON.parse(jobs.out)).toMatchObject({ job_id, name: "one", status: "completed" });
  expect(JSON.parse(job.out)).toMatchObject({ row: 1, email: "ann@example.com" });
});

test("Ctrl-C prints how to resume without the key, and resuming writes the results for one charge", async () => {
  const { env, file, out, client, url, key } = await whenServed("live");
  const { promise: opened, resolve: open } = Promise.withResolvers<boolean>();
  const { promise: waiting, resolve: waits } = Promise.withResolvers<void>();
  const proxy = await whenLosing(url, ({ route }) => {
    if (!route.startsWith("GET /v1/jobs/")) return false;
    waits();
    return opened;
  });
  const slow = { ...env, MAILPROOF_API: proxy.url };
  const child = spawnMailproof(["file", file, "--out", out], slow);
  const stderrText = text(child.stderr);
  await waiting;

  const ended = once(child, "exit");
  child.kill("SIGINT");
  const [code] = (await ended) as [number | null];
  open(false);
  const words = await stderrText;
  const again = /^ {2}mailproof (jobs .*)$/m.exec(words)?.[1]?.split(" ") ?? [];
  const goneOn = await whenRun(env, ...again);
  const { credits } = await client.getAccount();

  expect(code).toBe(130);
  expect(words).toContain("Interrupted.\njob_");
  expect(words).toContain(`--api ${proxy.url} --out ${out}`);
  expect(words).not.toContain(key);
  expect(goneOn.code).toBe(0);
  expect(firstCells(readFileSync(out, "utf8"))).toHaveLength(3);
  expect(credits.spent + credits.held).toBe(2);
});

test.each([
  ["verify", "ann@example.com"],
  ["check", "example.com"],
])("Ctrl-C during a request to %s prints the cost of a second request", async (...args) => {
  const { env, url } = await whenServed("live");
  const { promise: held, resolve: letGo } = Promise.withResolvers<boolean>();
  const { promise: requestSeen, resolve: resolveRequest } = Promise.withResolvers<void>();
  const proxy = await whenLosing(url, () => {
    resolveRequest();
    return held;
  });
  const child = spawnMailproof(args, {
    ...env,
    MAILPROOF_API: proxy.url,
  });
  const words = text(child.stderr);
  await requestSeen;

  const ended = once(child, "exit");
  child.kill("SIGINT");
  const [code] = (await ended) as [number | null];
  letGo(false);

  expect(code).toBe(130);
  expect(await words).toMatch(
    /^Interrupted: it may have been charged\..* half a credit for an address, and nothing for a domain/,
  );
});

test("a refused key exits with 4 and an unknown job with 3, with the service's message and its page", async () => {
  const { env, file, out, url } = await whenServed();

  const foreignResult = await whenRun({ ...env, MAILPROOF_KEY: "k" }, "file", file, "--out", out);
  const foreignKey = await whenRun(env, "jobs", "job_1", "--out", out);

  expect(foreignResult).toMatchObject({
    code: 4,
    err: expect.stringContaining("Nothing was charged."),
  });
  expect(foreignKey).toMatchObject({
    code: 3,
    err: expect.stringMatching(/^No such job\. Nothing was charged\.\n/),
  });
  expect(foreignKey.err.split("\n").slice(-2)).toEqual([`See ${url}/docs/errors#NOT_FOUND`, ""]);
  expect(existsSync(out)).toBe(false);
});

test("mailproof mail-test prints an address, waits for the mail and prints the report", async () => {
  const { env } = await whenServed();

  const { code, out, err } = await whenCommandedWith(env, "mail-test");
  const { test_id, status, report } = JSON.parse(out);

  expect(code).toBe(0);
  expect(err).toMatch(/^Send one mail to test-[\da-f]{32}@mail\.test within the hour\./);
  expect(status).toBe("received");
  expect(report).toMatchObject({ score: expect.any(Number), dmarc: { result: "pass" } });
  const again = await whenRun(env, "mail-test", test_id, "--no-wait");
  expect(JSON.parse(again.out)).toMatchObject({ test_id, status: "received" });
});

test("mailproof mail-test exits with 3 at a service without a mail domain and prints the remedy", async () => {
  const { env } = await whenServed("live");

  const { code, err } = await whenRun(env, "mail-test");

  expect(code).toBe(3);
  expect(err).toContain("MAIL_DOMAIN");
});
