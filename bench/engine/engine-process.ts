import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SYSTEM_CLOCK } from "@mailproof/client/clock";
import type { Table } from "@mailproof/core/ports/table";
import { SOLE_REQUESTER } from "@mailproof/core/smtp-pool/fairness";
import { createEngine } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { openEngine } from "@mailproof/local/engine-threads/open-engine";
import { type Environment, readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { isFault, type SmtpConnect } from "@mailproof/mail/smtp/wire";
import {
  type BenchVerdict,
  type EngineJob,
  isOurs,
  type LabAddress,
  PAUSING,
  type RunFigures,
  THREADED,
} from "./job.ts";
import { openPeer } from "./peers.ts";

// One engine in its own process: it is handed a job, and tells what every run of it came to.

// A peer asks the system's resolver and connects to port 25. Here, in its process alone, both lead to the lab, so
// that its own files stay as they were published.

type Callback = (error: Error | null, ...found: unknown[]) => void;
type Options = { readonly all?: boolean };

const redirectToLab = ({ dns: server, smtpPort }: LabAddress): void => {
  // The modules as a CommonJS package sees them: those can be changed, the import of them cannot.
  const require = createRequire(import.meta.url);
  const dns = require("node:dns") as typeof import("node:dns");
  const net = require("node:net") as typeof import("node:net");
  dns.setServers([server]);

  const lookup = (host: string, options: Options, callback: Callback): void => {
    const respond = (address: string) =>
      options.all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4);
    // What "no host at all" comes to on a machine without a mail server of its own.
    if (host === "localhost") return respond("127.0.0.1");
    dns.resolve4(host, (error, addresses) =>
      error ? callback(error) : respond(addresses[0] ?? ""),
    );
  };
  const connect = net.connect;
  const connectToLab = (port: number, host: string) =>
    port === 25
      ? connect({ port: smtpPort, host: host || "localhost", lookup: lookup as never })
      : connect(port, host);
  Object.assign(net, { connect: connectToLab, createConnection: connectToLab });
};

/** The rule that was: after a session that was mostly refused, five seconds of nothing. */
const PAUSE_MS = 5_000;
const REFUSALS_MIN = 9;

/** The same connections, each of which is kept for a pause after so many refusals. For comparison only. */
const withPauses =
  (connect: SmtpConnect): SmtpConnect =>
  async (target, options) => {
    const wire = await connect(target, options);
    if (typeof wire === "string") return wire;
    let refusals = 0;
    return {
      ...wire,
      receive: async (waitMs) => {
        const reply = await wire.receive(waitMs);
        if (!isFault(reply) && reply.code >= 500) refusals++;
        return reply;
      },
      close: async () => {
        await wire.close();
        if (refusals >= REFUSALS_MIN) await sleep(PAUSE_MS);
        refusals = 0;
      },
    };
  };

type OnVerdict = (index: number, verdict: BenchVerdict) => void;
type RunEngine = (job: EngineJob, onVerdict: OnVerdict) => Promise<void>;

/** As `mailproof verify` runs it, with facts about domains on disk. Every run starts with nothing known. */
const runOurs: RunEngine = async ({ engine, labAddress, addresses, asTheyArrive }, onVerdict) => {
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
    const world = { engine: opened.engine, sleep: SYSTEM_CLOCK.sleep };
    const requester = { ...SOLE_REQUESTER, job: "list" };
    const run = async (texts: readonly string[], from: number): Promise<void> => {
      let at = from;
      for await (const { status } of verifyMany(world, texts, { ...options, requester }))
        onVerdict(at++, status as BenchVerdict);
    };
    if (asTheyArrive) await Promise.all(addresses.map((address, at) => run([address], at)));
    else await run(addresses, 0);
  } finally {
    opened.close();
    table.close();
    rmSync(folder, { recursive: true });
  }
};

const openOurs = (name: string, environment: Environment, table: Table) => {
  const threads = THREADED[name];
  if (threads === undefined) {
    const own = openMailPorts(environment, table, null);
    const connect = name === PAUSING ? withPauses(own.connect) : own.connect;
    return { engine: createEngine({ ...own, connect }), close: own.close };
  }
  return openEngine({ ...environment, ENGINE_THREADS: threads }, null, {
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
