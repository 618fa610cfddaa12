import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

// MAILPROOF_KEY=KEY npx node scripts/smoke.ts URL tries a service from outside, as its first customer would: the key, an address, a
// batch, an uploaded file, its job and download, and a webhook. A test key costs nothing; a live key pays five credits at
// most. The key is no argument, because npm prints those, and no line of this program shows it.

const [given = ""] = process.argv.slice(2);
const key = process.env["MAILPROOF_KEY"] ?? "";
if (!URL.canParse(given) || !/^mp_(live|test)_/.test(key)) {
  process.stderr.write(
    "Usage: npx node scripts/smoke.ts URL, with the address of the service, and one of its keys in MAILPROOF_KEY.\n",
  );
  process.exit(2);
}
const base = given.replace(/\/+$/, "");
/** Longer than the service takes to answer any request. */
const ANSWER_MS = 35_000;
const JOB_MS = 180_000;
const POLL_MS = 500;

const request = async (route: string, body?: unknown, headers: Record<string, string> = {}) => {
  const [method = "", path = ""] = route.split(" ");
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  return { status: response.status, text: await response.text() };
};

/** A proxy before the service answers in its own words. */
const toData = (route: string, { status, text }: { status: number; text: string }): any => {
  const { data, error } = text.startsWith("{") ? JSON.parse(text) : { data: undefined };
  if (data !== undefined) return data;
  throw new Error(`${route} is ${status}: ${error?.message ?? text.slice(0, 300)}`);
};

const call = async (route: string, body?: unknown, headers?: Record<string, string>) =>
  toData(route, await request(route, body, headers));

const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`${what} is ${String(actual)}, not ${String(expected)}`);
};

const waitForJob = async (job: string): Promise<any> => {
  for (const until = Date.now() + JOB_MS; Date.now() < until; ) {
    const found = await call(`GET /v1/jobs/${job}`);
    if (found.status === "completed") return found;
    if (found.status === "failed") throw new Error(`the job ${job} failed`);
    await setTimeout(POLL_MS);
  }
  throw new Error(`the job ${job} is not completed after ${JOB_MS / 1_000} seconds`);
};

const EMAILS = ["ann@example.com", "invalid@example.com", "no address"] as const;

type Step = readonly [name: string, run: () => Promise<string>];

/** Each says what it saw. */
const STEPS: readonly Step[] = [
  [
    "the service answers",
    async () => {
      const { status, text } = await request("GET /health");
      if (status !== 200) throw new Error(`GET /health is ${status}: ${text.slice(0, 300)}`);
      const { status: health, version, checks } = JSON.parse(text);
      const bad = Object.entries(checks).filter(([, state]) => state !== "ok");
      return `${version}, ${health}${bad.map(([name, state]) => `, ${name} ${String(state)}`).join("")}`;
    },
  ],
  [
    "the key is accepted",
    async () => {
      const { credits } = await call("GET /v1/account");
      return `${credits.available} credits available`;
    },
  ],
  [
    "an address is verified, and its repeat changes nothing",
    async () => {
      const headers = { "idempotency-key": randomUUID() };
      const ask = () => call("POST /v1/verify", { email: EMAILS[0] }, headers);
      const [first, again] = [await ask(), await ask()];
      expectEqual("the status of the repeat", again.status, first.status);
      expectEqual("idempotent_replay of the repeat", again.idempotent_replay, true);
      return `${EMAILS[0]} is ${first.status}`;
    },
  ],
  [
    "a batch becomes a job with a result for each address",
    async () => {
      const { job_id: job } = await call("POST /v1/verify/batch", { emails: EMAILS });
      const { results } = await waitForJob(job);
      expectEqual("the number of results", results.length, EMAILS.length);
      return results.map(({ status }: { status: string }) => status).join(", ");
    },
  ],
  [
    "a file is uploaded by its link, processed and downloaded",
    async () => {
      const file = { action: "get_upload_url", file_name: "smoke.csv" };
      const { upload_url: to, file_key } = await call("POST /v1/verify/file", file);
      const content = ["email", EMAILS[0], EMAILS[1]].join("\n");
      const put = await fetch(to, { method: "PUT", body: content });
      if (!put.ok) throw new Error(`PUT of the file is ${put.status}: ${await put.text()}`);
      const { job_id: job } = await call("POST /v1/verify/file", { action: "process", file_key });
      await waitForJob(job);
      const { status, text } = await request(`GET /v1/jobs/${job}/download`);
      const isRight = status === 200 && text.includes(EMAILS[0]) && text.includes(EMAILS[1]);
      if (!isRight) throw new Error(`the download is ${status}: ${text.slice(0, 300)}`);
      return `${text.trimEnd().split("\n").length - 1} rows`;
    },
  ],
  [
    "a webhook reaches an address",
    async () => {
      if (!base.startsWith("https://")) return "left out: webhooks call https addresses only";
      const url = `${base}/health`;
      const { id } = await call("POST /v1/webhooks", { url, events: ["job.completed"] });
      try {
        const { delivery } = await call(`POST /v1/webhooks/${id}/test`);
        // The service itself takes no POST there. That it says so shows that the call arrived.
        expectEqual("the answer to the delivery", delivery.response_status, 405);
      } finally {
        await request(`DELETE /v1/webhooks/${id}`);
      }
      return "the service called itself";
    },
  ],
];

for (const [name, run] of STEPS) {
  const from = performance.now();
  try {
    const seen = await run();
    process.stdout.write(`✓ ${name}: ${seen} (${Math.round(performance.now() - from)} ms)\n`);
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    // A proxy may answer with the headers of the request.
    process.stdout.write(`✗ ${name}: ${why.replaceAll(key, "(the key)")}\n`);
    process.exit(1);
  }
}
process.stdout.write(`${base} works.\n`);
