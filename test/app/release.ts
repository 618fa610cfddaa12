import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { endpoints } from "@mailproof/api/endpoints";
import { respond } from "@mailproof/api/http/respond";
import { openapi } from "@mailproof/api/openapi/openapi";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { audit } from "@mailproof/core/background/audit";
import { schedules, workers } from "@mailproof/core/background/workers";
import { createReading } from "@mailproof/core/deliverability/reading";
import { ONE_REQUEST } from "@mailproof/core/ports/one-request";
import type { Table, Write } from "@mailproof/core/ports/table";
import { createRequestLog } from "@mailproof/core/requests/request-log";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { createEngine } from "@mailproof/core/verify/engine";
import { createSandboxEngine } from "@mailproof/core/verify/sandbox";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { createProberHandler, createRemoteProbe } from "@mailproof/functions/capabilities/prober";
import { lambda } from "@mailproof/functions/lambda";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { createScheduleHandler } from "@mailproof/functions/schedule-handler";
import { createLists } from "@mailproof/mail/lists/lists";

// The code of a release, as far as tests run it: today's, and that of the last release, from git. During a deployment both run
// side by side on one table.

/** Today's code. */
export const CURRENT = {
  name: "today's",
  endpoints,
  respond,
  openapi,
  audit,
  workers,
  schedules,
  createReading,
  ONE_REQUEST,
  createRateLimit,
  createRequestLog,
  createSharedSlots,
  createEngine,
  createSandboxEngine,
  createDynamoTable,
  createS3Blobs,
  createSqsQueue,
  createProberHandler,
  createRemoteProbe,
  lambda,
  createQueueHandler,
  createScheduleHandler,
  createLists,
};

export type Release = typeof CURRENT;

/** Where each of these is. */
const FILES: Readonly<Record<string, readonly (keyof Release)[]>> = {
  "api/src/endpoints": ["endpoints"],
  "api/src/http/respond": ["respond"],
  "api/src/openapi/openapi": ["openapi"],
  "core/src/accounts/rate-limit": ["createRateLimit"],
  "core/src/background/audit": ["audit"],
  "core/src/background/workers": ["workers", "schedules"],
  "core/src/deliverability/reading": ["createReading"],
  "core/src/ports/one-request": ["ONE_REQUEST"],
  "core/src/requests/request-log": ["createRequestLog"],
  "core/src/smtp-pool/slots/slot-pool": ["createSharedSlots"],
  "core/src/verify/engine": ["createEngine"],
  "core/src/verify/sandbox": ["createSandboxEngine"],
  "functions/src/aws/dynamo-table": ["createDynamoTable"],
  "functions/src/aws/s3-blobs": ["createS3Blobs"],
  "functions/src/aws/sqs-queue": ["createSqsQueue"],
  "functions/src/capabilities/prober": ["createProberHandler", "createRemoteProbe"],
  "functions/src/lambda": ["lambda"],
  "functions/src/queue-handler": ["createQueueHandler"],
  "functions/src/schedule-handler": ["createScheduleHandler"],
  "mail/src/lists/lists": ["createLists"],
};

/** Files that 0.2.0 has elsewhere. */
const MOVED: Readonly<Record<string, string>> = {
  "packages/core/src/smtp-pool/slots/slot-pool.ts":
    "packages/core/src/smtp-pool/slots/shared-slots.ts",
};

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const git = (...args: readonly string[]): Buffer =>
  execFileSync("git", args, { cwd: ROOT, maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] });

/** The commit that wrote the newest fixture is the last release: its tree is what wrote the state that the fixture holds. */
const findLastRelease = () => {
  const file = git("ls-tree", "--name-only", "HEAD", "test/fixtures/")
    .toString()
    .split("\n")
    .filter((name) => FIXTURE.test(name))
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
  if (file === undefined) throw new Error("There is no fixture of a release.");
  const commit = git("log", "-1", "--format=%H", "--", file).toString().trim();
  return { name: FIXTURE.exec(file)?.[1] ?? "", commit };
};

const FIXTURE = /release-(.*)\.json\.br$/;

/** Null: the last release can be loaded. */
export const findReleaseAbsence = (): string | null => {
  try {
    const isShallow = git("rev-parse", "--is-shallow-repository").toString().trim() === "true";
    return isShallow ? "this clone is shallow, so the code of the last release is not in it" : null;
  } catch {
    return "this is no clone of the repository, so the code of the last release is not in it";
  }
};

/** What of a release is unpacked: its packages, and what is deployed of them. */
const UNPACKED = ["packages", "infra"];

/**
 * The folder stays. It is below the repository, so that other packages are those of today; the release's own are found first.
 */
const unpackRelease = (commit: string): string => {
  const folder = join(ROOT, ".cache/releases", commit);
  if (existsSync(folder)) return folder;
  mkdirSync(join(ROOT, ".cache/releases"), { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  execFileSync("tar", ["-x", "-C", draft], { input: git("archive", commit, ...UNPACKED) });
  const links = join(draft, "node_modules/@mailproof");
  mkdirSync(links, { recursive: true });
  for (const name of readdirSync(join(draft, "packages")))
    symlinkSync(join("../../packages", name), join(links, name));
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    // Another process was faster.
    rmSync(draft, { recursive: true });
  }
  return folder;
};

/** A file of the last release as a module. The caller knows that it exports what today's does. */
export const importFromLastRelease = async <Exported>(file: string): Promise<Exported> => {
  const folder = unpackRelease(findLastRelease().commit);
  const path = join(folder, existsSync(join(folder, file)) ? file : (MOVED[file] ?? file));
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Exported;
};

export const loadLastRelease = async (): Promise<Release> => {
  const { name } = findLastRelease();
  const loaded = await Promise.all(
    Object.entries(FILES).map(async ([file, names]) => {
      const exported = await importFromLastRelease<Release>(`packages/${file}.ts`);
      return names.map((one) => [one, exported[one]] as const);
    }),
  );
  const release = { name, ...Object.fromEntries(loaded.flat()) } as Release;
  const missing = Object.keys(CURRENT).filter((one) => release[one as keyof Release] === undefined);
  if (missing.length > 0) throw new Error(`${name} has no ${missing.join(", ")}.`);
  return release;
};

/** A process of this release over these ports, with mail servers that answer as those of test keys. */
export const runRelease = <World extends AppWorld>(release: Release, world: World): World => {
  const { now, sleep, table } = world;
  const lists = { lists: release.createLists() };
  return {
    ...world,
    ...release.ONE_REQUEST,
    engine: release.createSandboxEngine({ engine: lists, now, sleep }),
    reading: release.createReading(now),
    rateLimit: release.createRateLimit(table, now),
    requestLog: release.createRequestLog(table, now),
  };
};

/**
 * The release with a fault that shows only beside another release: its stored texts, messages and field names have `to` wherever
 * those of the other have `from`.
 */
export const renameStored = (
  release: Release,
  from: string,
  to: string,
): Release & { readonly change: <World extends AppWorld>(ctx: World) => World } => {
  const outward = createRename(from, to);
  const inward = createRename(to, from);
  return {
    ...release,
    workers: release.workers.map((worker) => ({
      ...worker,
      handle: (world, body) => worker.handle(world, inward(body)),
    })),
    change: <World extends AppWorld>(ctx: World): World => ({
      ...ctx,
      table: { ...ctx.table, ...renameInTable(ctx.table, outward, inward) },
      queue: {
        ...ctx.queue,
        sendMany: (name, messages) => ctx.queue.sendMany(name, outward(messages)),
      },
    }),
  };
};

type Rename = <T>(value: T) => T;

const createRename = (from: string, to: string): Rename => {
  const rename = (value: unknown): unknown => {
    if (typeof value === "string") return value.replaceAll(from, to);
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [rename(name), rename(one)]),
    );
  };
  return rename as Rename;
};

const renameInTable = (table: Table, outward: Rename, inward: Rename): Partial<Table> => {
  const transact: Table["transact"] = async (writes, attempt) => {
    const renamed = outward(writes);
    const result = await table.transact(renamed, attempt);
    if (result.outcome !== "refused") return inward(result);
    // Callers compare the write with theirs.
    return { ...result, refusedWrite: writes[renamed.indexOf(result.refusedWrite)] as Write };
  };
  const write: Table["write"] = async (one) => {
    const result = await table.write(outward(one));
    return result.outcome === "refused" ? { ...result, refusedWrite: one } : inward(result);
  };
  return {
    get: async (key) => inward(await table.get(outward(key))),
    query: async (query) => inward(await table.query(outward(query))),
    write,
    transact,
  };
};

/** Fields of answers that came after the last release: its answers lack them. Each release empties it. */
const NEW_FIELDS: readonly string[] = ["forwarding_mx", "judged"];

/** As JSON, without what only one of two releases knows. */
export const toSharedJson = (answer: unknown): string =>
  JSON.stringify(answer, (name, value: unknown) => (NEW_FIELDS.includes(name) ? undefined : value));
