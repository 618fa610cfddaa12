import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { reconcile } from "@mailproof/core/background/reconciler";
import { HOUR_MS } from "@mailproof/core/lib/time";
import { verifyChunk, verifySingle } from "@mailproof/core/lists/chunk-worker";
import { credits } from "@mailproof/core/money/credits";
import type { Table } from "@mailproof/core/ports/table";
import { findJob, isOpenJob } from "@mailproof/core/rows/items";
import type { Worker } from "@mailproof/core/runtime/worker";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import type { Engine } from "@mailproof/core/verify/engine";
import { PROVIDER_CONNECTIONS } from "@mailproof/mail/mail-providers";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { ReplyOrFault, SmtpConnect } from "@mailproof/mail/smtp/wire";
import { givenWorld } from "../app/given.ts";
import { CURRENT, runRelease } from "../app/release.ts";
import { whenVerified } from "../app/send.ts";
import { whenBatched } from "../things/jobs.ts";
import { findWorker } from "./background.ts";
import type { SimulatedWorld } from "./process.ts";
import type { Crew } from "./run-script.ts";

/** A table that takes a moment to be asked, and another to answer. */
const createDistantTable = (table: Table, pause: () => Promise<void>): Table => {
  const distant =
    <Asked extends unknown[], Result>(call: (...asked: Asked) => Promise<Result>) =>
    async (...asked: Asked): Promise<Result> => {
      await pause();
      const result = await call(...asked);
      await pause();
      return result;
    };
  return {
    get: distant((key) => table.get(key)),
    query: distant((query) => table.query(query)),
    write: distant((write) => table.write(write)),
    transact: distant((writes, attempt) => table.transact(writes, attempt)),
  };
};

// The simulation of a cluster: many processes of ours, each as a Lambda is one, over one table and one queue, with the real
// engine and the real workers. Time is virtual; only the mail servers and the delays are made up.

const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;
const TABLE_MS = 10;
const IDLE_MS = 1_000;

type ClusterOptions = {
  /** How long each reply of a mail server takes. */
  readonly replyMs: number;
  /** The mail host of a domain. */
  readonly toMailHost?: (domain: string) => string;
  /** By name. Absent: each process leaves by its own IP address. */
  readonly exits?: readonly string[] | undefined;
  readonly seed?: number;
};

const givenCluster = ({
  replyMs,
  toMailHost = () => "gmail-smtp-in.l.google.com",
  exits,
  seed = 1,
}: ClusterOptions) => {
  const ctx = givenWorld(seed);
  const base: AppWorld = {
    ...ctx.world,
    log: () => undefined,
    settings: { ...ctx.world.settings, chunkRows: { batch: 200, file: 500 } },
  };
  const { sleep, now, random } = base;
  const open = new Map<string, number>();
  const peaks = new Map<string, number>();
  const askedAbout = new Map<string, number>();
  const askedAtMs: number[] = [];
  let sessions = 0;
  const countOpen = (name: string, by: number): void => {
    const count = (open.get(name) ?? 0) + by;
    open.set(name, count);
    peaks.set(name, Math.max(count, peaks.get(name) ?? 0));
  };

  const connect: SmtpConnect = async ({ host, ip }, { exit }) => {
    await sleep(replyMs);
    const { limitKey } = toSlotKey({ host, priority: 10, ips: [ip] }, exit);
    countOpen(limitKey, 1);
    sessions++;
    let isOpen = true;
    let next = "220 hello";
    return {
      send: (line) => {
        const recipient = /^RCPT TO:<(.*)>/.exec(line)?.[1];
        const isRandom = RANDOM_RECIPIENT.test(line);
        if (recipient && !isRandom) {
          askedAbout.set(recipient, (askedAbout.get(recipient) ?? 0) + 1);
          askedAtMs.push(now().getTime());
        }
        next = isRandom ? "550 5.1.1 no such user" : "250 ok";
      },
      receive: async () => {
        await sleep(replyMs);
        return toReply(next);
      },
      startTls: async () => "tls_failed",
      close: async () => {
        if (isOpen) countOpen(limitKey, -1);
        isOpen = false;
      },
    };
  };

  const createProcessEngine = (release: Crew = CURRENT): Engine => {
    const { change = (own: SimulatedWorld) => own } = release;
    const changed = change({ ...base, queue: ctx.queue }).table;
    const distant = createDistantTable(changed, () => sleep(random() * TABLE_MS));
    const engine = release.createEngine({
      ...base,
      dns: () => Promise.reject(new Error("the mail hosts are given")),
      connect,
      table: distant,
      ...(exits && { exits, warmExits: exits }),
      lists: release.createLists(),
      allowed: [],
      smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
      slots: release.createSharedSlots({ ...base, table: distant }),
    });
    const findMailHosts: Engine["findMailHosts"] = async (domain) => {
      const host = toMailHost(domain);
      const hosts = [{ host, priority: 10, ips: [toIp(host)] }];
      return { kind: "hosts", hosts, implicit: false, dnsQueries: [] };
    };
    return { ...engine, findMailHosts };
  };

  /** Runs until `isOver`, up to `batch` messages at a time. Returns how long its messages took together. */
  const runProcess = async (
    worker: Worker<AppWorld>,
    isOver: () => boolean,
    { batch = 1, release = CURRENT }: { readonly batch?: number; readonly release?: Crew } = {},
  ): Promise<number> => {
    const world = { ...runRelease(release, base), engine: createProcessEngine(release) };
    let busyMs = 0;
    await sleep(random() * IDLE_MS);
    while (!isOver()) {
      const handled = await handleNext(world, findWorker(release, worker), batch);
      if (handled === null) await sleep(IDLE_MS);
      else busyMs += handled;
    }
    return busyMs;
  };

  const handleNext = async (
    world: AppWorld,
    worker: Worker<AppWorld>,
    batch: number,
  ): Promise<number | null> => {
    const messages = await ctx.queue.receive(worker.queue, { max: batch, waitMs: 0 });
    if (messages.length === 0) return null;
    const startedAt = now().getTime();
    await Promise.all(
      messages.map(async ({ body, receipt }) => {
        await worker.handle(world, body);
        await ctx.queue.acknowledge(receipt);
      }),
    );
    return now().getTime() - startedAt;
  };

  /** As on AWS: once a minute, beside the others. */
  const runReconciler = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      await sleep(reconcile.everySeconds * 1_000);
      await reconcile.run(base);
    }
  };

  return {
    ...ctx,
    world: base,
    peaks,
    askedAbout,
    askedAtMs,
    countSessions: () => sessions,
    createProcessEngine,
    runProcess,
    runReconciler,
    /** Batches of new accounts, each with its own addresses. Returns the keys of their accounts with their jobs. */
    sendBatches: (count: number, rows: number, toDomain: (row: string) => string) =>
      Promise.all(
        Array.from({ length: count }, async (_, batch) => {
          const opened = await openAccount(base, {
            name: `Account ${batch}`,
            plan: "pro",
            opening: credits(100_000),
          });
          const emails = Array.from({ length: rows }, (_row, n) => {
            const row = `${batch}-${n}`;
            return `p${batch}.${n}@${toDomain(row)}`;
          });
          const { data } = await whenBatched(base, opened.liveKey, { emails });
          return { key: opened.liveKey, job: String(data.job_id) };
        }),
      ),
  };
};

/** Replies of a session to Gmail beside those to RCPT: connect, greeting, EHLO, five MAIL, four RSET, QUIT. */
const REPLIES_BESIDES = 13;
const ROWS_PER_SESSION = 50;
const MINUTES_MAX = 600;

/** Where the rows are: all at Gmail, or each at a domain with a mail host of its own. */
export type RowsAt = "gmail" | "own hosts";

const listExitNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `192.0.2.${n + 1}:1080`);

type ClusterFleet = {
  readonly rowsAt?: RowsAt;
  readonly exits?: number;
  /** Processes take turns with them. */
  readonly releases?: readonly Crew[];
};

/** A batch of rows for each process, all sent at once by accounts of their own. */
export const simulateCluster = async (
  processes: number,
  replyMs: number,
  rowsEach: number,
  { rowsAt = "gmail", exits = 1, releases = [CURRENT] }: ClusterFleet = {},
) => {
  const isGmail = rowsAt === "gmail";
  const cluster = givenCluster({
    replyMs,
    ...(!isGmail && { toMailHost: (domain: string) => `mx.${domain}` }),
    exits: exits > 1 ? listExitNames(exits) : undefined,
  });
  const { world, table } = cluster;
  const toDomain = (row: string) => (isGmail ? "gmail.com" : `domain${row}.example`);
  const sent = await cluster.sendBatches(processes, rowsEach, toDomain);
  const startedAt = world.now().getTime();
  let isOver = false;
  const untilDone = async (): Promise<void> => {
    let open = sent.map(({ job }) => job);
    while (open.length > 0 && world.now().getTime() - startedAt < MINUTES_MAX * 60_000) {
      const jobs = await Promise.all(open.map((id) => findJob(table, id)));
      open = jobs.flatMap((job) => (job && isOpenJob(job) ? [job.id] : []));
      if (open.length > 0) await world.sleep(2_000);
    }
    isOver = true;
  };
  const busy = Promise.all(
    Array.from({ length: processes }, (_, n) => {
      const release = releases[n % releases.length] as Crew;
      return cluster.runProcess(verifyChunk, () => isOver, { release });
    }),
  );
  void cluster.runReconciler(() => isOver);
  await untilDone();
  const busyMs = (await busy).reduce((sum, ms) => sum + ms, 0);
  const jobs = await Promise.all(sent.map(({ job }) => findJob(table, job)));
  const sum = (field: "processed" | "valid" | "unknown") =>
    jobs.reduce((total, job) => total + (job?.[field] ?? 0), 0);
  const sessionSeconds = ((ROWS_PER_SESSION + REPLIES_BESIDES) * replyMs) / 1_000;
  return {
    rows: processes * rowsEach,
    processed: sum("processed"),
    valid: sum("valid"),
    unknown: sum("unknown"),
    askedTwice: [...cluster.askedAbout.values()].filter((times) => times > 1).length,
    /** Of the exit with the most sessions. */
    peak: Math.max(...cluster.peaks.values()),
    sessions: cluster.countSessions(),
    /** Recipients a second: measured, and what the limits allow. */
    rate: measureRate(cluster.askedAtMs),
    rateMax: (exits * PROVIDER_CONNECTIONS * ROWS_PER_SESSION) / sessionSeconds,
    seconds: (world.now().getTime() - startedAt) / 1_000,
    /** How long processes worked or waited, for a thousand rows. */
    processSeconds: busyMs / (processes * rowsEach),
  };
};

/** Without the first and the last tenth: there the slots fill and empty. */
const measureRate = (times: readonly number[]): number => {
  const [from, to] = [Math.floor(times.length * 0.1), Math.floor(times.length * 0.9)];
  return ((to - from) * 1_000) / ((times[to] ?? 0) - (times[from] ?? 0));
};

/** How long after its request a caller has an answer, and how long after it the result. */
type Answer = { readonly domain: string; readonly waitedMs: number; readonly isPending: boolean };

const OTHERS = 100;
const SINGLES_CONCURRENCY = 50;
/** As in infra/topology.ts. */
const SINGLES_BATCH = 10;

/**
 * Single verifications of addresses at Gmail, all at once, beside some at domains with hosts of their own: each in a
 * process of its own, as probers are on AWS. Those that are pending continue as jobs.
 */
export const simulateCallers = async (crowd: number, replyMs: number) => {
  const toMailHost = (domain: string) =>
    domain === "gmail.com" ? "gmail-smtp-in.l.google.com" : `mx.${domain}`;
  const cluster = givenCluster({ replyMs, toMailHost });
  const { world } = cluster;
  const { liveKey } = await openAccount(world, {
    name: "Callers",
    plan: "scale",
    opening: credits(100_000),
  });
  const startedAt = world.now().getTime();
  let isOver = false;
  const jobs: string[] = [];
  const call = async (n: number, domain: string): Promise<Answer> => {
    const own = { ...world, engine: cluster.createProcessEngine() };
    const { data } = await whenVerified(own, liveKey, { email: `caller${n}@${domain}` });
    const isPending = data.status === "pending";
    if (isPending) jobs.push(data.job_id);
    return { domain, isPending, waitedMs: world.now().getTime() - startedAt };
  };
  const workers = Promise.all(
    Array.from({ length: SINGLES_CONCURRENCY }, () =>
      cluster.runProcess(verifySingle, () => isOver, { batch: SINGLES_BATCH }),
    ),
  );
  const answers = await Promise.all([
    ...Array.from({ length: crowd }, (_, n) => call(n, "gmail.com")),
    ...Array.from({ length: OTHERS }, (_, n) => call(n, `domain${n}.example`)),
  ]);
  const readOpen = async () =>
    (await Promise.all(jobs.map((id) => findJob(cluster.table, id)))).filter(
      (job) => job && isOpenJob(job),
    ).length;
  while ((await readOpen()) > 0 && world.now().getTime() - startedAt < HOUR_MS)
    await world.sleep(1_000);
  isOver = true;
  await workers;
  const ended = await Promise.all(jobs.map((id) => findJob(cluster.table, id)));
  const atGmail = answers.filter(({ domain }) => domain === "gmail.com");
  const atOthers = answers.filter(({ domain }) => domain !== "gmail.com");
  return {
    answeredAtOnce: atGmail.filter(({ isPending }) => !isPending).length,
    pending: atGmail.filter(({ isPending }) => isPending).length,
    rightLater: ended.filter((job) => job?.valid === 1).length,
    secondsToLast: (world.now().getTime() - startedAt) / 1_000,
    othersAnswered: atOthers.filter(({ isPending }) => !isPending).length,
    othersMs: atOthers.map(({ waitedMs }) => waitedMs).toSorted((a, b) => a - b),
    peak: cluster.peaks.get("google") ?? 0,
    sessions: cluster.countSessions(),
  };
};

const toReply = (text: string): ReplyOrFault =>
  createReplyReader()(Buffer.from(`${text}\r\n`))[0] ?? "closed";

const toIp = (host: string): string => {
  const n = Number(/\d+/.exec(host)?.[0] ?? 0);
  return `198.18.${host.length % 250}.${n % 250}`;
};
