import { setTimeout } from "node:timers/promises";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { createKey } from "@mailproof/core/accounts/api-keys";
import { credits } from "@mailproof/core/money/credits";
import { formatCompanyLabel, getPeople } from "@mailproof/lab/companies";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { type Api, createApi, uploadList } from "./http-api.ts";
import { withServer } from "./network.ts";
import { computePercentile, createRow, type ReportRow } from "./report.ts";

// Another account beside a file of 300,000 rows: how long its batches of ten take, and its verifications of addresses
// that are in no cache. Both are measured in the same run before the file is sent, and while it is under way.

const ROWS = 300_000;
const ZONE = "lab.mailproof.test";
const COMPANIES = 3_000;
const BATCHES = 50;
const BATCH_ROWS = 10;
/** Alone as beside the file: of fewer, the p99 is whatever was slowest. */
const VERIFICATIONS = 200;
const ENOUGH = { batches: BATCHES, verifications: VERIFICATIONS };
const POLL_MS = 50;
const BETWEEN_MS = 100;
const ALONE_MS = 5_000;

const createPerson = (number: number): string => {
  const domain = `${formatCompanyLabel(1 + (number % COMPANIES))}.companies.${ZONE}`;
  const staff = getPeople(domain);
  return `${staff[number % staff.length]?.local ?? "info"}+${number}@${domain}`;
};

/** Each number is given once, so no address is in a cache. Their mail servers are none of the file's. */
const createPeople = () => {
  let number = 0;
  return (): string => `ada.lovelace+${number++}@valid.${ZONE}`;
};

/** The account that sends the batches, beside the one that sends the file. */
const openOtherAccount = async (folder: string): Promise<string> => {
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  const opening = credits(100_000);
  const { account } = await openAccount(world, { name: "Other", plan: "scale", opening });
  const { secret } = await createKey(world, { account, name: "bench", mode: "live", scopes: null });
  close();
  return secret;
};

const sendFile = async (api: Api): Promise<string> => {
  const lines = ["email", ...Array.from({ length: ROWS }, (_, number) => createPerson(number))];
  const fileKey = await uploadList(api, lines.join("\n"));
  const job = await api("POST /v1/verify/file", { action: "process", file_key: fileKey });
  return job.job_id;
};

/** The result of the work, and how many rows a second the file got done meanwhile. */
const measureFile = async <T>(owner: Api, job: string, work: () => Promise<T>) => {
  const processed = async (): Promise<number> =>
    (await owner(`GET /v1/jobs/${job}?include_results=false`)).processed_emails;
  const before = await processed();
  const from = performance.now();
  const result = await work();
  const seconds = (performance.now() - from) / 1_000;
  return { result, rowsPerSecond: ((await processed()) - before) / seconds };
};

const isDone = async (api: Api, job: string): Promise<boolean> => {
  const { status } = await api(`GET /v1/jobs/${job}?include_results=false`);
  return status === "completed";
};

const measureMs = async (work: () => Promise<void>): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};

/** Batches one after the other, and verifications beside them, until there are enough of both. */
const measure = async (
  api: Api,
  newPerson: () => string,
  { batches, verifications }: { readonly batches: number; readonly verifications: number },
) => {
  const verifyMs: number[] = [];
  const batchMs: number[] = [];
  let isOver = false;
  const verifying = (async () => {
    while (!isOver) {
      verifyMs.push(
        await measureMs(() => api("POST /v1/verify", { email: newPerson() }).then(() => undefined)),
      );
      await setTimeout(BETWEEN_MS);
    }
  })();
  while (batchMs.length < batches || verifyMs.length < verifications) {
    const emails = Array.from({ length: BATCH_ROWS }, newPerson);
    const ms = await measureMs(async () => {
      const { job_id: job } = await api("POST /v1/verify/batch", { emails });
      while (!(await isDone(api, job))) await setTimeout(POLL_MS);
    });
    batchMs.push(ms);
    await setTimeout(BETWEEN_MS);
  }
  isOver = true;
  await verifying;
  return { batchMs, verifyMs };
};

export const run = (): Promise<readonly ReportRow[]> =>
  withServer(
    { lab: { companies: COMPANIES, zone: ZONE } },
    async ({ api: owner, server, folder }) => {
      const other = createApi(server.ready.base_url, await openOtherAccount(folder));
      const newPerson = createPeople();
      // What is looked up once is known afterwards: both measurements find the domains known.
      await measure(other, newPerson, { batches: 2, verifications: 0 });
      const calm = await measure(other, newPerson, ENOUGH);
      const file = await sendFile(owner);
      const beside = await measureFile(owner, file, () => measure(other, newPerson, ENOUGH));
      const alone = await measureFile(owner, file, () => setTimeout(ALONE_MS));
      const isStillUnderWay = !(await isDone(owner, file));
      return [
        ...toRows(calm, beside.result, isStillUnderWay),
        createRow("fairFile", beside.rowsPerSecond / alone.rowsPerSecond),
        { what: "the file beside them", value: beside.rowsPerSecond, unit: "rows a second" },
        { what: "the file alone, after them", value: alone.rowsPerSecond, unit: "rows a second" },
      ];
    },
  );

type Times = Awaited<ReturnType<typeof measure>>;

const toRows = (calm: Times, beside: Times, isUnderWay: boolean): readonly ReportRow[] => {
  const verifyCalm = computePercentile(calm.verifyMs, 0.99);
  const verifyBeside = computePercentile(beside.verifyMs, 0.99);
  return [
    {
      what: "a batch of 10, alone, median",
      value: computePercentile(calm.batchMs, 0.5),
      unit: "ms",
    },
    { what: "beside the file, median", value: computePercentile(beside.batchMs, 0.5), unit: "ms" },
    createRow("fairBatch", computePercentile(beside.batchMs, 0.99) / 1_000),
    {
      what: "a verification, alone, median",
      value: computePercentile(calm.verifyMs, 0.5),
      unit: "ms",
    },
    { what: "beside the file, median", value: computePercentile(beside.verifyMs, 0.5), unit: "ms" },
    { what: "alone, p99", value: verifyCalm, unit: "ms" },
    { what: "beside the file, p99", value: verifyBeside, unit: "ms" },
    createRow("fairVerify", verifyBeside / verifyCalm),
    { what: "files under way to the end", value: isUnderWay ? 1 : 0, unit: "files" },
  ];
};
