import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SYSTEM_CLOCK } from "@mailproof/client/clock";
import type { Table } from "@mailproof/core/ports/table";
import { createEngine } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { openEngine } from "@mailproof/local/engine-threads/open-engine";
import { type Environment, readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import {
  type BenchVerdict,
  type EngineJob,
  isOurs,
  PAUSING,
  type RunFigures,
  THREADED,
} from "./job.ts";
import { openPeer } from "./peers.ts";
import { redirectToLab } from "./redirect-to-lab.ts";
import { withPauses } from "./with-pauses.ts";

// One engine in its own process: it is handed a job, and tells what every run of it came to.

type OnVerdict = (index: number, verdict: BenchVerdict) => void;
type RunEngine = (job: EngineJob, onVerdict: OnVerdict) => Promise<void>;

/** As the local product runs it, with facts about domains on disk. Every run starts with nothing known. */
const runOurs: RunEngine = async ({ engine, labAddress, addresses }, onVerdict) => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const table = createSqliteTable(join(folder, "state.sqlite"), () => new Date());
  const environment = readEnvironment({
    MAILPROOF_DIR: folder,
    DNS_SERVERS: labAddress.dns,
    SMTP_PORT: String(labAddress.smtpPort),
    SMTP_ALLOW_PRIVATE: labAddress.smtpAddresses,
  });
  const opened = openOurs(engine, environment, table);
  try {
    const options = { deepVerify: true, includeAi: false, includeEvidence: false };
    let at = 0;
    const world = { engine: opened.engine, sleep: SYSTEM_CLOCK.sleep };
    for await (const { status } of verifyMany(world, addresses, options))
      onVerdict(at++, status as BenchVerdict);
  } finally {
    opened.close();
    table.close();
    rmSync(folder, { recursive: true });
  }
};

const openOurs = (name: string, environment: Environment, table: Table) => {
  if (name === PAUSING) {
    const own = openMailPorts(environment, table, null);
    const engine = createEngine({ ...own, connect: withPauses(own.connect) });
    return { engine, close: own.close };
  }
  const settings = { ...environment, ENGINE_THREADS: THREADED[name] ?? 0 };
  return openEngine(settings, null, {
    table,
    yieldToCallers: () => undefined,
    log: () => undefined,
  });
};

const runPeer: RunEngine = async (
  { engine, labAddress, addresses, inFlight, limitMs },
  onVerdict,
) => {
  const ask = openPeer(engine, labAddress);
  const endsAt = performance.now() + limitMs;
  let next = 0;
  const worker = async () => {
    while (next < addresses.length && performance.now() < endsAt) {
      const at = next++;
      onVerdict(at, await ask(addresses[at] ?? ""));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
};

let crashes = 0;

const measure = async (job: EngineJob): Promise<RunFigures> => {
  const verdicts: Record<number, BenchVerdict> = {};
  crashes = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  let lastAt = startedAt;
  const work = (isOurs(job.engine) ? runOurs : runPeer)(job, (at, word) => {
    verdicts[at] = word;
    lastAt = performance.now();
  });
  const { promise: tooLate, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, job.limitMs + job.graceMs);
  await Promise.race([work, tooLate]);
  clearTimeout(timer);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (lastAt - startedAt) / 1000;
  const addresses = Object.keys(verdicts).length;
  return { addresses, seconds, cpuMs: (user + system) / 1000, verdicts, crashes };
};

const countCrash = () => {
  crashes += 1;
};

process.once("message", (job: EngineJob) => {
  const work = async () => {
    if (!isOurs(job.engine)) {
      redirectToLab(job.labAddress);
      // An error in a peer's socket is to cost it this address, not all the others.
      process.on("uncaughtException", countCrash);
      process.on("unhandledRejection", countCrash);
    }
    const runs: RunFigures[] = [];
    for (let run = 0; run < job.runs; run++) runs.push(await measure(job));
    process.send?.(runs, () => process.exit());
  };
  void work();
});
