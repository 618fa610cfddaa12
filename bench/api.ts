import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { CONNECTIONS, callVerify, findObstacle, type Loaded } from "./autocannon.ts";
import { computeMedian, createRow, type ReportRow } from "./report.ts";
import { auditFolder, startServer } from "./server.ts";

// The server in its own process, asked over HTTP: requests that cost credits, each of them on the disk before
// it is answered. No account passes its rate limit.

const SECONDS = 8;
const EMAIL = "ada.lovelace@valid.lab.mailproof.test";
const RUNS = 3;

/** An account for each connection of each run, since accounts have rate limits. */
const openAccounts = async (folder: string): Promise<readonly string[]> => {
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  const keys: string[] = [];
  for (let number = 0; number < CONNECTIONS * (RUNS + 1); number++) {
    const wanted = { name: "bench", plan: "scale" as const, opening: credits(100_000) };
    keys.push((await openAccount(world, wanted)).liveKey);
  }
  close();
  return keys;
};

export { findObstacle };

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const { ready, stop } = await startServer(folder, { LOG_LEVEL: "warn" });
  try {
    const keys = await openAccounts(folder);
    const loads: Loaded[] = [];
    for (let run = 0; run <= RUNS; run++) {
      const duration = run === 0 ? 1 : SECONDS;
      const loaded = await callVerify(ready.base_url, EMAIL, keys.slice(run * CONNECTIONS), {
        duration,
      });
      // The first run is to warm up, and fills the cache.
      if (run > 0) loads.push(loaded);
    }
    await stop();
    const { violations } = await auditFolder(folder);
    const sum = (pick: (one: Loaded) => number) =>
      loads.reduce((total, one) => total + pick(one), 0);
    return [
      createRow("cachedRate", computeMedian(loads.map(({ requests }) => requests.average))),
      createRow("cachedP99", computeMedian(loads.map(({ latency }) => latency.p99))),
      { what: "median", value: computeMedian(loads.map(({ latency }) => latency.p50)), unit: "ms" },
      createRow(
        "cachedOthers",
        sum(({ non2xx }) => non2xx),
      ),
      { what: "charges on the ledger's disk", value: sum((one) => one["2xx"]), unit: "charges" },
      createRow("cachedInvariants", violations.length),
    ];
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
