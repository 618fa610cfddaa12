import { setTimeout } from "node:timers/promises";
import { formatCompanyLabel, getPeople } from "@mailproof/lab/companies";
import { expect, test } from "vitest";
import { createFolder, whenCommanded, whenStarted } from "../servers/running.ts";

// A job on the real embedded engine, over HTTP, with real mail servers of the lab behind it.

const KILLS = Number(process.env["KILLS"] ?? 3);
const ADDRESSES = 1_200;

/** People of the lab's companies; some of them twice, and some rows that are no address. */
const givenList = (): string => {
  const rows = Array.from({ length: ADDRESSES }, (_, n) => {
    const domain = `${formatCompanyLabel(1 + (n % 400))}.companies.lab.mailproof.test`;
    const local = n % 10 ? `${getPeople(domain)[0]?.local}+${n}` : `nobody${n}`;
    return `${n};${local}@${domain}`;
  });
  return ["id;email", ...rows, ...rows.slice(0, 50), "x;none", "y;"].join("\r\n");
};

type Api = (route: string, body?: unknown, once?: string) => Promise<any>;

const createApi =
  ({ base_url, live_key }: { base_url: string; live_key: string }): Api =>
  async (route, body, once) => {
    const [method = "", path = ""] = route.split(" ");
    const answer = await fetch(`${base_url}${path}`, {
      method,
      headers: {
        "x-api-key": live_key,
        "content-type": "application/json",
        ...(once !== undefined && { "idempotency-key": once }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return ((await answer.json()) as { data: unknown }).data;
  };

const waitUntilDone = async (api: Api, job: string) => {
  for (;;) {
    const found = await api(`GET /v1/jobs/${job}?limit=1000`);
    if (found.status === "completed") return found;
    await setTimeout(100);
  }
};

test(`a job and its child finish after kill -9 at ${KILLS} moments, each row once and every credit accounted for`, async () => {
  const folder = createFolder();
  const first = await whenStarted(folder);
  const api = createApi(first.ready);
  const to = await api("POST /v1/verify/file", { action: "get_upload_url", file_name: "a.csv" });
  await fetch(to.upload_url, { method: "PUT", body: givenList() });
  const wanted = { action: "process", file_key: to.file_key };
  const accepted = await api("POST /v1/verify/file", wanted, "once");
  let running = first;
  for (let kill = 0; kill < KILLS; kill++) {
    await setTimeout(Math.random() * 400);
    await running.stop("SIGKILL");
    running = await whenStarted(folder);
  }

  const again = createApi(running.ready);
  const replay = await again("POST /v1/verify/file", wanted, "once");
  const done = await waitUntilDone(again, accepted.job_id);
  const more = await again(`GET /v1/jobs/${accepted.job_id}?limit=1000&next_key=${done.next_key}`);
  const rows = [...done.results, ...more.results] as { row: number; email: string }[];
  const anew = { filter: "score:0-100" };
  const child = await again(`POST /v1/jobs/${accepted.job_id}/again`, anew, "anew");
  for (let kill = 0; kill < KILLS; kill++) {
    await setTimeout(Math.random() * 400);
    await running.stop("SIGKILL");
    running = await whenStarted(folder);
  }
  const last = createApi(running.ready);
  const childReplay = await last(`POST /v1/jobs/${accepted.job_id}/again`, anew, "anew");
  await waitUntilDone(last, child.job_id);
  const renewed = await last(`GET /v1/jobs/${accepted.job_id}?limit=1000`);
  const { credits } = await last("GET /v1/account");
  await running.stop("SIGTERM");
  const { code, out } = await whenCommanded(folder, "admin", "audit");

  expect(accepted).toMatchObject({
    total_submitted: ADDRESSES + 52,
    duplicates_removed: 50,
    invalid_emails_skipped: 2,
    unique_emails: ADDRESSES,
    credits_used: ADDRESSES,
  });
  expect(replay).toMatchObject({ job_id: accepted.job_id, idempotent_replay: true });
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: ADDRESSES }, (_, n) => n + 2));
  expect(new Set(rows.map(({ email }) => email)).size).toBe(ADDRESSES);
  expect(childReplay).toMatchObject({ job_id: child.job_id, idempotent_replay: true });
  expect(renewed.progress).toMatchObject({ total: ADDRESSES, processed: ADDRESSES });
  expect(renewed.child_job_id).toBeUndefined();
  const isNewer = (row: any, at: number) => row.verified_at > done.results[at].verified_at;
  expect(renewed.results.filter(isNewer)).toHaveLength(1_000);
  expect(credits).toMatchObject({ held: 0, spent: 2 * ADDRESSES, refunded: 0 });
  expect(out).toContain('"violations": []');
  expect(code).toBe(0);
}, 300_000);

test(`a list that continues another is charged once after kill -9 at ${KILLS} moments of its request and its run`, async () => {
  const folder = createFolder();
  let running = await whenStarted(folder);
  const upload = async (api: Api, content: string): Promise<string> => {
    const to = await api("POST /v1/verify/file", { action: "get_upload_url", file_name: "a.csv" });
    await fetch(to.upload_url, { method: "PUT", body: content });
    return to.file_key;
  };
  const api = createApi(running.ready);
  const earlier = await api("POST /v1/verify/file", {
    action: "process",
    file_key: await upload(api, givenList()),
  });
  await waitUntilDone(api, earlier.job_id);
  const added = Array.from(
    { length: 100 },
    (_, n) => `\r\nz${n};new.person${n}@valid.lab.mailproof.test`,
  );
  const wanted = {
    action: "process",
    file_key: await upload(api, givenList() + added.join("")),
    continues: earlier.job_id,
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const send = createApi(running.ready);
    const lost = send("POST /v1/verify/file", wanted, "next").catch(() => undefined);
    await setTimeout(Math.random() * 200);
    await running.stop("SIGKILL");
    await lost;
    running = await whenStarted(folder);
  }

  const last = createApi(running.ready);
  const accepted = await last("POST /v1/verify/file", wanted, "next");
  const done = await waitUntilDone(last, accepted.job_id);
  const { credits } = await last("GET /v1/account");
  await running.stop("SIGTERM");
  const { code, out } = await whenCommanded(folder, "admin", "audit");

  expect(accepted.compared).toMatchObject({ new: 100, kept: ADDRESSES, again: 0, removed: 0 });
  expect(done.progress).toMatchObject({ total: ADDRESSES + 100, processed: ADDRESSES + 100 });
  expect(credits).toMatchObject({ held: 0, spent: ADDRESSES + 100, refunded: 0 });
  expect(out).toContain('"violations": []');
  expect(code).toBe(0);
}, 300_000);
