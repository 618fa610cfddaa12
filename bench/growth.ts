import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { findJob, toJobItem } from "@mailproof/core/rows/items";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { COMPANIES, runList } from "./against/scenarios.ts";
import { createFinishedJob } from "./export/finished-job.ts";
import { findObstacle, listRecipients, measureCalls, measureEach } from "./floors.ts";
import { createApi, createKeys, uploadList } from "./http-api.ts";
import { withServer } from "./network.ts";
import { createRow, type ReportRow } from "./report.ts";

// The processor time of a row in ever longer lists, and of a cached call beside ever more stored jobs and accounts. GROWTH=0.1
// measures a tenth of the sizes, for a machine that has other work.

const SHARE = Number(process.env["GROWTH"] ?? 1);
const toSizes = (sizes: readonly number[]) => sizes.map((size) => Math.ceil(size * SHARE));
const ROWS = toSizes([10_000, 100_000, 500_000]);
const WARM_UP_ROWS = 5_000;
const JOBS = toSizes([1, 1_000, 100_000]);
const ACCOUNTS = toSizes([1, 100, 10_000]);

export { findObstacle };

const lab = { companies: COMPANIES };

const measureRows = (): Promise<readonly number[]> =>
  withServer({ lab }, async ({ api, server }) => {
    const costs: number[] = [];
    for (const count of [WARM_UP_ROWS, ...ROWS]) {
      const fileKey = await uploadList(api, ["email", ...listRecipients(count)].join("\n"));
      const work = () => runList(api, fileKey, count).then(() => ({ count }));
      costs.push(await measureEach(server.pid, work));
    }
    return costs.slice(1);
  });

type State = { readonly jobs?: number; readonly accounts?: number };

/** Stores so many finished jobs of one account, and so many accounts beside it. Returns a key of the account. */
const store = async (world: AppWorld, { jobs = 1, accounts = 0 }: State): Promise<string> => {
  const { job: id, key } = await createFinishedJob(world, 1);
  const job = await findJob(world.table, id);
  for (let n = 1; job && n < jobs; n++)
    await world.table.write({ create: toJobItem({ ...job, id: `${id}${n}` }) }, "may be lost");
  for (let n = 0; n < accounts; n++)
    await openAccount(world, { name: `${n}`, plan: "free", opening: credits(1) });
  return key;
};

const measureCallsBeside = async (states: readonly State[]): Promise<readonly number[]> => {
  const costs: number[] = [];
  for (const state of states) {
    let key = "";
    const prepare = async (folder: string): Promise<void> => {
      const environment = readEnvironment({ MAILPROOF_DIR: folder });
      const { world, close } = createApp(environment, () => "", null);
      key = await store(world, state);
      close();
    };
    const cost = await withServer({ lab, prepare }, async ({ server: { ready, pid } }) =>
      measureCalls(ready.base_url, pid, await createKeys(createApi(ready.base_url, key))),
    );
    costs.push(cost);
  }
  return costs;
};

type Line = "rowGrowth" | "jobGrowth" | "accountGrowth";

const toRows = (line: Line, sizes: readonly number[], costs: readonly number[]) => [
  createRow(line, (costs.at(-1) ?? Number.NaN) / (costs[0] ?? Number.NaN)),
  ...costs.map((value, at) => ({ what: `at ${sizes[at]}`, value, unit: "µs" })),
];

export const run = async (): Promise<readonly ReportRow[]> => [
  ...toRows("rowGrowth", ROWS, await measureRows()),
  ...toRows("jobGrowth", JOBS, await measureCallsBeside(JOBS.map((jobs) => ({ jobs })))),
  ...toRows(
    "accountGrowth",
    ACCOUNTS,
    await measureCallsBeside(ACCOUNTS.map((accounts) => ({ accounts }))),
  ),
];
