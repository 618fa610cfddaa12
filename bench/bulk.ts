import { setTimeout } from "node:timers/promises";
import { formatCompanyLabel, getPeople } from "@mailproof/lab/companies";
import { type Api, createApi, uploadList } from "./http-api.ts";
import { generateList, type ListCounts, toBytes } from "./list-generator.ts";
import { withServer } from "./network.ts";
import { computePercentile, createRow, type ReportRow } from "./report.ts";
import { auditFolder, readUsage, type Server } from "./server.ts";

// A file of half a million rows from its upload to its last result: the product in one process, the lab's mail
// network in another, both on this machine. Meanwhile another account uses the service, and is not to notice.

const ROWS = 500_000;
const ZONE = "lab.mailproof.test";
const COMPANIES = 3_000;
const UNKNOWN_SHARE = 0.1;
const CACHED_REQUEST = { email: `ada.lovelace@valid.${ZONE}` };
const POLL_MS = 1_000;
const OTHERS_EVERY_MS = 100;

/** People of the lab's companies, each with a tag of its own; every tenth has no mailbox there. */
const createPerson = (number: number, chance: () => number): string => {
  const domain = `${formatCompanyLabel(1 + Math.floor(chance() * COMPANIES))}.companies.${ZONE}`;
  const staff = getPeople(domain);
  const mailbox = staff[Math.floor(chance() * staff.length)]?.local ?? "info";
  const local = chance() < UNKNOWN_SHARE ? `nobody${number}` : `${mailbox}+${number}`;
  return `${local}@${domain}`;
};

const SHAPE = {
  seed: 1,
  rows: ROWS,
  duplicatePercent: 6,
  invalidPercent: 3,
  domain: () => ZONE,
  person: createPerson,
  columns: 5,
};

type Progress = Readonly<
  Record<"total" | "processed" | "valid" | "invalid" | "risky" | "unknown", number>
>;
const upload = async (api: Api): Promise<{ fileKey: string; counts: ListCounts }> => {
  let counts: ListCounts | undefined;
  const list = toBytes(generateList(SHAPE), (counted) => {
    counts = counted;
  });
  const fileKey = await uploadList(api, list);
  if (!counts) throw new Error("The list was not sent to its end.");
  return { fileKey, counts };
};

/** Others who use the service at the same time: how long each of their calls took. */
const startOthers = (api: Api, job: string, isOver: () => boolean) => {
  const took: Record<"job" | "verify", number[]> = { job: [], verify: [] };
  const recordTime = async (times: number[], call: Promise<unknown>): Promise<void> => {
    const from = performance.now();
    await call;
    times.push(performance.now() - from);
  };
  const runOthers = async (): Promise<void> => {
    while (!isOver()) {
      await recordTime(took.job, api(`GET /v1/jobs/${job}?limit=10`));
      await recordTime(took.verify, api("POST /v1/verify", CACHED_REQUEST));
      await setTimeout(OTHERS_EVERY_MS);
    }
  };
  return { took, done: runOthers() };
};

const waitUntilDone = async (api: Api, job: string): Promise<Progress> => {
  const from = performance.now();
  for (;;) {
    const { status, progress } = await api(`GET /v1/jobs/${job}?include_results=false`);
    const rate = Math.round(progress.processed / ((performance.now() - from) / 1000));
    const line = `${progress.processed} of ${progress.total} addresses, ${rate} a second`;
    if (process.stderr.isTTY) process.stderr.write(`\r${line}  `);
    if (status === "completed") return progress as Progress;
    if (status === "failed") throw new Error("the job failed");
    await setTimeout(POLL_MS);
  }
};

/** Every row, page after page: what a customer gets to see, held against what the job says of itself. */
const countRows = async (api: Api, job: string): Promise<number> => {
  let rows = 0;
  let next: string | undefined;
  do {
    const data = await api(`GET /v1/jobs/${job}?limit=1000${next ? `&next_key=${next}` : ""}`);
    rows += data.results.length;
    next = data.next_key;
  } while (next);
  return rows;
};

type JobFigures = {
  readonly acceptedMs: number;
  readonly seconds: number;
  readonly accepted: any;
  readonly counts: ListCounts;
  readonly progress: Progress;
  readonly rows: number;
  readonly took: ReturnType<typeof startOthers>["took"];
  readonly peakMegabytes: number;
};

const runJob = async ({ ready, pid }: Server): Promise<JobFigures> => {
  const api = createApi(ready.base_url, ready.live_key);
  const { fileKey, counts } = await upload(api);
  await api("POST /v1/verify", CACHED_REQUEST);
  const from = performance.now();
  const accepted = await api("POST /v1/verify/file", { action: "process", file_key: fileKey });
  const acceptedMs = performance.now() - from;

  let isOver = false;
  const { took, done } = startOthers(api, accepted.job_id, () => isOver);
  const progress = await waitUntilDone(api, accepted.job_id);
  const seconds = (performance.now() - from) / 1000;
  isOver = true;
  await done;
  const { peakMegabytes } = readUsage(pid);
  const rows = await countRows(api, accepted.job_id);
  return { acceptedMs, seconds, accepted, counts, progress, rows, took, peakMegabytes };
};

/** Each of these is what the list itself knows, and must be found again to the last row. */
const countInexact = ({ accepted, counts, progress, rows }: JobFigures): number => {
  const { valid, invalid, risky, unknown, processed } = progress;
  return [
    accepted.total_submitted - counts.rows,
    accepted.duplicates_removed - counts.duplicates,
    accepted.invalid_emails_skipped - counts.invalid,
    accepted.unique_emails - counts.unique,
    accepted.credits_used - counts.unique,
    processed - counts.unique,
    valid + invalid + risky + unknown - processed,
    rows - counts.unique,
  ].filter((difference) => difference !== 0).length;
};

export const run = (): Promise<readonly ReportRow[]> =>
  withServer({ lab: { companies: COMPANIES, zone: ZONE } }, async ({ server, network, folder }) => {
    const figures = await runJob(server);
    const { peakSessionsPerHost } = await network.stats();
    await server.stop();
    const { violations } = await auditFolder(folder);
    return toRows(figures, Math.max(...Object.values(peakSessionsPerHost)), violations.length);
  });

const toRows = (
  figures: JobFigures,
  peakSessions: number,
  broken: number,
): readonly ReportRow[] => {
  const { acceptedMs, seconds, counts, progress, took, peakMegabytes } = figures;
  const rows = ROWS.toLocaleString("en");
  return [
    { what: `${rows} rows: addresses`, value: counts.unique, unit: "addresses" },
    createRow("accepted", acceptedMs / 1000),
    createRow("bulkRate", counts.unique / seconds),
    { what: "of them unknown", value: (progress.unknown * 100) / progress.processed, unit: "%" },
    createRow("bulkExact", countInexact(figures)),
    createRow("bulkInvariants", broken),
    createRow("bulkSessions", peakSessions),
    createRow("bulkOthersJob", computePercentile(took.job, 0.99)),
    createRow("bulkOthersVerify", computePercentile(took.verify, 0.99)),
    { what: "peak memory of the server", value: peakMegabytes, unit: "MB" },
  ];
};
