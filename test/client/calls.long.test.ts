import { programEndpoints } from "@mailproof/api/endpoints";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import type { Client } from "@mailproof/client/client";
import { OPERATIONS } from "@mailproof/client/operations";
import type { Operations } from "@mailproof/client/types";
import * as v from "valibot";
import { expect, test } from "vitest";
import { serveAccounts } from "../servers/proxied-server.ts";
import { createDailyReport } from "../things/reports.ts";

const whenServed = serveAccounts();

const EMAIL = "ann@example.com";
/** Asked again after minutes, so its job is open when it is cancelled. */
const DEFERRED = "greylisted@example.com";

type Made = { readonly job: string; readonly check: string; readonly file: string };

/** A call of an operation whose example in the document names an id that this server lacks, or a body that it refuses. */
const CALLS: Readonly<
  Partial<Record<keyof Operations, (client: Client, made: Made) => Promise<unknown>>>
> = {
  listLedgerEntries: (client) => client.listLedgerEntries({ from: "2026-01-01", limit: 1 }),
  getUsage: (client) => client.getUsage({ from: "2026-01-01", to: "2026-01-31" }),
  verifyEmail: (client) =>
    client.verifyEmail({
      email: EMAIL,
      include_activity: true,
      options: { include_evidence: true },
    }),
  verifyBatch: (client) => client.verifyBatch({ emails: [EMAIL], name: "one" }),
  createUpload: (client) => client.createUpload({ file_name: "list.csv" }),
  processFile: (client, { file }) => client.processFile({ file_key: file, has_header: true }),
  previewFile: (client, { file, job }) =>
    client.previewFile({ file_key: file, continues: job, fresh_days: 30 }),
  listJobs: (client) => client.listJobs({ limit: 1, status: "completed" }),
  getJob: (client, { job }) => client.getJob({ id: job, limit: 1 }),
  getJobRow: (client, { job }) => client.getJobRow({ id: job, row: "2" }),
  verifyAgain: (client, { job }) => client.verifyAgain({ id: job, filter: "score:0-100" }),
  cancelJob: async (client) => {
    const { job_id } = await client.verifyBatch({ emails: [DEFERRED] });
    return client.cancelJob({ id: job_id });
  },
  deleteJob: async (client) => {
    const { job_id } = await client.verifyBatch({ emails: [DEFERRED] });
    await client.cancelJob({ id: job_id });
    return client.deleteJob({ id: job_id });
  },
  listCallbacks: (client, { job }) => client.listCallbacks({ id: job }),
  downloadJob: (client, { job }) => client.downloadJob({ id: job, filter: "valid" }),
  findEmail: (client) =>
    client.findEmail({ first_name: "Ann", last_name: "Lee", domain: "example.com" }),
  getActivity: (client) => client.getActivity({ email: EMAIL }),
  getActivityBatch: (client) => client.getActivityBatch({ emails: [EMAIL] }),
  getDomainReputation: (client) => client.getDomainReputation({ domain: "example.com" }),
  recordActivity: (client) =>
    client.recordActivity({
      events: [{ id: "1", type: "open", email: EMAIL, occurred_at: "2026-01-01T00:00:00Z" }],
    }),
  checkDomain: (client) => client.checkDomain({ domain: "example.com", sending_ip: "192.0.2.1" }),
  listChecks: (client) => client.listChecks({ limit: 5 }),
  getCheck: (client, { check }) => client.getCheck({ id: check }),
  listMailTests: (client) => client.listMailTests({ limit: 1 }),
  getMailTest: async (client) => {
    const { test_id } = await client.createMailTest();
    return client.getMailTest({ id: test_id });
  },
  createMonitor: (client) => client.createMonitor({ domain: "example.com", interval_hours: 48 }),
  deleteMonitor: async (client) => {
    const { monitor_id } = await client.createMonitor({ domain: "other.example.com" });
    return client.deleteMonitor({ id: monitor_id });
  },
  uploadReport: (client) =>
    client.uploadReport({ content: Buffer.from(createDailyReport()).toString("base64") }),
  getDomainProgress: (client) => client.getDomainProgress({ domain: "example.com" }),
  getDomainReports: (client) => client.getDomainReports({ domain: "example.com", days: 7 }),
  ...webhookCalls(),
  verifyForm: (client) => client.verifyForm({ email: EMAIL }),
  eraseData: (client) => client.eraseData({ email: EMAIL }),
  listRequests: (client) => client.listRequests({ status: "4xx" }),
  createApiKey: (client) =>
    client.createApiKey({ name: "Shop", mode: "test", scopes: ["verification:read"] }),
  revokeApiKey: async (client) => {
    const { key_id } = await client.createApiKey({ name: "Gone", mode: "test" });
    return client.revokeApiKey({ id: key_id });
  },
};

// No server is called: the lab knows that there is no such name.
const url = "https://hooks.lab.mailproof.test/in";

function webhookCalls() {
  const made = async (client: Client) =>
    (await client.createWebhook({ url, events: ["job.completed"] })).id;
  const tested = async (client: Client) => {
    const webhook = await made(client);
    return { webhook, ...(await client.testWebhook({ id: webhook })) };
  };
  return {
    createWebhook: (client: Client) => client.createWebhook({ url, events: ["credits.low"] }),
    updateWebhook: async (client: Client) =>
      client.updateWebhook({ id: await made(client), status: "disabled" }),
    testWebhook: async (client: Client) => client.testWebhook({ id: await made(client) }),
    rotateWebhookSecret: async (client: Client) =>
      client.rotateWebhookSecret({ id: await made(client) }),
    listDeliveries: async (client: Client) =>
      client.listDeliveries({ id: (await tested(client)).webhook }),
    retryDelivery: async (client: Client) => {
      const { webhook, delivery } = await tested(client);
      return client.retryDelivery({ id: webhook, delivery_id: delivery.id });
    },
    replayDeliveries: async (client: Client) =>
      client.replayDeliveries({ id: await made(client), since: "2026-11-01T00:00:00Z" }),
    listEvents: (client: Client) => client.listEvents({ wait: 0 }),
    deleteWebhook: async (client: Client) => client.deleteWebhook({ id: await made(client) }),
  };
}

/** Sends the request of the operation's example in the document. */
const callExample = (client: Client, name: keyof Operations): Promise<unknown> => {
  const { route } = OPERATIONS[name];
  const { path, query, request } = EXAMPLES.find((one) => one.route === route) ?? {};
  const input = { ...path, ...query, ...(request as object | undefined) };
  return (client[name] as (of: object) => Promise<unknown>)(input);
};

const getOutput = (name: keyof Operations) =>
  programEndpoints.find(({ route }) => route === OPERATIONS[name].route)?.output as
    | v.GenericSchema
    | undefined;

// The operations for people refuse keys; the dashboard's tests call them.
test("every operation for programs of a real server returns its declared type", async () => {
  const { clientWith, testKey } = await whenServed();
  const client = clientWith({ key: testKey });
  const done = await client.verifyFile(new Blob([`email\n${EMAIL}\n`]));
  const { check_id: check } = await client.checkDomain({ domain: "example.org" });
  const { upload_url, file_key: file } = await client.createUpload({ file_name: "a.csv" });
  await fetch(upload_url, { method: "PUT", body: `email\n${EMAIL}\n` });
  const made = { job: done.job.job_id, check, file };

  const wrong = [];
  for (const name of Object.keys(OPERATIONS) as (keyof Operations)[]) {
    const output = getOutput(name);
    if (!output) continue;
    const response = await (CALLS[name]?.(client, made) ?? callExample(client, name));
    const read = v.safeParse(output, response);
    if (!read.success) wrong.push([name, response, v.flatten(read.issues)]);
  }

  expect(wrong).toEqual([]);
});

test("the client puts the input of a POST with query parameters into the query", async () => {
  const { clientWith, testKey } = await whenServed();
  const client = clientWith({ key: testKey });
  const { id } = await client.createWebhook({ url, events: ["credits.low"] });

  const { delivery } = await client.testWebhook({ id, event: "credits.low" });

  expect(delivery.event).toBe("credits.low");
});

test("the client reads lists to their end, page by page", async () => {
  const { clientWith, testKey } = await whenServed();
  const client = clientWith({ key: testKey });
  for (let n = 0; n < 103; n++) await client.verifyBatch({ emails: [EMAIL], name: `list ${n}` });
  const emails = Array.from({ length: 2_345 }, (_, n) => `ann+${n}@example.com`);
  const { job_id: id } = await client.verifyBatch({ emails });
  await client.waitForJob({ id });

  const jobs = await Array.fromAsync(client.jobs(), ({ name }) => name);
  const rows = await Array.fromAsync(client.results({ id }), ({ email }) => email);

  expect(jobs).toEqual([undefined, ...Array.from({ length: 103 }, (_, n) => `list ${102 - n}`)]);
  expect(rows).toEqual(emails);
});

test("the client requests the next page only after it returned all rows of the page before", async () => {
  const { clientWith, testKey } = await whenServed();
  let requests = 0;
  const counted: typeof fetch = (...of) => {
    requests++;
    return fetch(...of);
  };
  const client = clientWith({ key: testKey, fetch: counted });
  const emails = Array.from({ length: 1_500 }, (_, n) => `ann+${n}@example.com`);
  const { job_id: id } = await client.verifyBatch({ emails });
  await client.waitForJob({ id });

  requests = 0;
  for await (const { row } of client.results({ id })) if (row >= 10) break;

  expect(requests).toBe(1);
});
