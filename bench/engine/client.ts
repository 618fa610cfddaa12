import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineOver } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailDoors } from "@mailproof/local/mail-doors";
import { sqliteTable } from "@mailproof/local/sqlite-table";
import { isOurs, type Job, PAUSING, type RunFigures, type Said } from "./job.ts";
import { withPauses } from "./pausing.ts";
import { openPeer } from "./peers.ts";
import { leadToLab } from "./same-servers.ts";

// One engine in a process of its own: it is handed a job, and tells what every run of it came to.

type Hear = (place: number, said: Said) => void;
type Work = (job: Job, hear: Hear) => Promise<void>;

/** As the local product runs it, with facts about domains on disk. Every run begins with nothing known. */
const ours: Work = async ({ engine, place, addresses }, hear) => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const table = sqliteTable(join(folder, "state.sqlite"), () => new Date());
  const environment = readEnvironment({
    MAILPROOF_DIR: folder,
    DNS_SERVERS: place.dns,
    SMTP_PORT: String(place.smtpPort),
    SMTP_ALLOW_PRIVATE: place.smtpAddresses,
  });
  const own = openMailDoors(environment, table, null);
  const doors = engine === PAUSING ? { ...own, connect: withPauses(own.connect) } : own;
  try {
    const options = { deepVerify: true, includeAi: false, includeEvidence: false };
    let at = 0;
    for await (const { status } of verifyMany(engineOver(doors), addresses, options))
      hear(at++, status as Said);
  } finally {
    doors.close();
    table.close();
    rmSync(folder, { recursive: true });
  }
};

const peer: Work = async ({ engine, addresses, inFlight, limitMs }, hear) => {
  const ask = openPeer(engine);
  const endsAt = performance.now() + limitMs;
  let next = 0;
  const worker = async () => {
    while (next < addresses.length && performance.now() < endsAt) {
      const at = next++;
      hear(at, await ask(addresses[at] ?? ""));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
};

let crashes = 0;

const measure = async (job: Job): Promise<RunFigures> => {
  const said: Record<number, Said> = {};
  crashes = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  let lastAt = startedAt;
  const work = (isOurs(job.engine) ? ours : peer)(job, (at, word) => {
    said[at] = word;
    lastAt = performance.now();
  });
  const { promise: tooLate, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, job.limitMs + job.graceMs);
  await Promise.race([work, tooLate]);
  clearTimeout(timer);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (lastAt - startedAt) / 1000;
  const addresses = Object.keys(said).length;
  return { addresses, seconds, cpuMs: (user + system) / 1000, said, crashes };
};

const noteCrash = () => {
  crashes += 1;
};

process.once("message", (job: Job) => {
  const work = async () => {
    if (!isOurs(job.engine)) {
      leadToLab(job.place);
      // An error in a peer's socket is to cost it this address, not all the others.
      process.on("uncaughtException", noteCrash);
      process.on("unhandledRejection", noteCrash);
    }
    const runs: RunFigures[] = [];
    for (let run = 0; run < job.runs; run++) runs.push(await measure(job));
    process.send?.(runs, () => process.exit());
  };
  void work();
});
