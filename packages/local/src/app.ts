import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { createReading } from "@mailproof/core/deliverability/reading";
import { FREE_BYTES } from "@mailproof/core/ports/free-space";
import { HTTPS_PORT } from "@mailproof/core/ports/https";
import { CHUNK_ROWS, EXPORT_ROWS, SLOW_ROWS_AFTER_MS } from "@mailproof/core/ports/settings";
import { createListReads } from "@mailproof/core/runtime/list-reads";
import { createLongPolls } from "@mailproof/core/runtime/long-polls";
import type { SessionReport } from "@mailproof/core/smtp-pool/session-report";
import type { Lab } from "@mailproof/lab/lab";
import type { Dns } from "@mailproof/mail/dns/dns";
import { createHttpsClient } from "@mailproof/net/https";
import { createMailer } from "@mailproof/net/mailer";
import { passkeyVerifier } from "@mailproof/net/passkey-verifier";
import { sleep } from "@mailproof/net/sleep";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import manifest from "../package.json" with { type: "json" };
import { openEngine } from "./engine-threads/open-engine.ts";
import { type Environment, GENERATED } from "./environment.ts";
import { createLineLog } from "./line-log.ts";
import type { Counters } from "./metrics/counters.ts";
import { createReadingThreads } from "./reading/reading-threads.ts";
import { createCallersFirst } from "./server/callers-first.ts";
import { startPressureMeter } from "./server/pressure.ts";
import { createReachWatch, type ReachWatch } from "./server/reach-watch.ts";
import { createBufferedRequestLog } from "./server/request-log.ts";
import { withUploadLimits } from "./server/upload-limits.ts";
import { createBlobLinks, type OpenLink } from "./storage/blob-links.ts";
import { createFileBlobs } from "./storage/file-blobs.ts";
import { readFreeBytes } from "./storage/free-bytes.ts";
import { loadSecrets } from "./storage/secrets.ts";
import { createSqliteQueue, type SqliteQueue } from "./storage/sqlite-queue.ts";
import { createSqliteTable, type SqliteTable } from "./storage/sqlite-table.ts";
import { createStateHealth, type StateHealth } from "./storage/state-check.ts";
import { completeFolder, prepareFolder } from "./storage/state-folder.ts";
import { recordSessionSpan, traceHttps, traceProbe } from "./tracing.ts";

export type LocalWorld = AppWorld & {
  readonly table: SqliteTable;
  readonly queue: SqliteQueue;
  /** True when more rows may be in progress than a busy thread needs. */
  readonly hasMemory: () => boolean;
};

/** Each long poll holds a connection, and reads the table once a second. */
const LONG_POLL_LIMITS = { perAccount: 4, inAll: 100 };

export type App = {
  readonly world: LocalWorld;
  readonly health: StateHealth;
  readonly openLink: OpenLink;
  readonly reach: ReachWatch;
  /** Starts the engine's threads, which otherwise start with the first verification. */
  readonly startEngine: () => void;
  /** After this call the app refuses new work with a price, and responds to waiting requests. */
  readonly beginStop: () => void;
  /** Stores the last requests, which are still in memory. */
  readonly flush: () => Promise<void>;
  readonly close: () => void;
};

/** The composition root on one machine. The app calls `baseUrl` only when it creates a link. */
export const createApp = (
  environment: Environment,
  baseUrl: () => string,
  lab: Lab | null,
  counters?: Counters,
): App => {
  const directory = environment.MAILPROOF_DIR;
  prepareFolder(directory);
  const health = createStateHealth(directory);
  const secrets = loadSecrets(directory);
  const now = () => new Date();
  const links = createBlobLinks({ secret: secrets.link_secret, baseUrl, now });
  const sqlite = createSqliteTable(join(directory, "state.sqlite"), now, (error) =>
    health.report("table", error),
  );
  const table = counters?.observeTable(sqlite) ?? sqlite;
  const callersFirst = createCallersFirst();
  const stopping = createStopping();
  const log = createLineLog(environment.LOG_LEVEL, now);
  const ports = { table, ...callersFirst, log, ...createObservers(counters) };
  const { engine, mail, ...opened } = openEngine(environment, lab, ports);
  const queue = createSqliteQueue(join(directory, "queue.sqlite"), now, (error) =>
    health.report("queue", error),
  );

  const blobs = openBlobFolder(directory);
  const meter = startPressureMeter(log, callersFirst.countCallers);
  const requests = createBufferedRequestLog(table, now);
  const readers = createReadingThreads({ now, log });

  const world: LocalWorld = {
    damagedParts: health.damagedParts,
    table,
    queue,
    blobs: withUploadLimits(createFileBlobs(blobs, links.sign), { directory: blobs, now }),
    rateLimit: createRateLimit(table, now),
    requestLog: requests.log,
    accessTokens: trustedTokens(environment, now),
    callers: callersFirst,
    longPolls: createLongPolls(LONG_POLL_LIMITS, stopping.signal),
    listReads: createListReads(now),
    engine: {
      ...engine,
      probe: traceProbe(engine.probe),
      ...(counters && { onVerification: counters.onVerification }),
    },
    names: mail.dnsLookups,
    reading: createReading(now, readers.run),
    ...openOutside(environment, mail.dns, counters),
    issuers: mail.issuers,
    ...openSignIn(environment, now),
    now,
    random: Math.random,
    randomBytes,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    sleep,
    log,
    ...watchMachine(directory, meter),
    stopping: stopping.signal,
    settings: toSettings(environment, secrets),
  };
  const close = () => {
    meter.stop();
    requests.stop();
    readers.close();
    opened.close();
    table.close();
    queue.close();
  };
  return {
    world,
    health,
    reach: createReachWatch(mail, environment),
    openLink: links.open,
    startEngine: opened.start,
    beginStop: () => stopping.abort("stopping"),
    flush: requests.flush,
    close,
  };
};

const watchMachine = (
  directory: string,
  { pressure, hasMemory }: Pick<ReturnType<typeof startPressureMeter>, "pressure" | "hasMemory">,
): Pick<LocalWorld, "pressure" | "freeBytes" | "hasMemory"> => {
  const freeBytes = () => readFreeBytes(directory);
  const isFull = () => (freeBytes() ?? Number.POSITIVE_INFINITY) < FREE_BYTES.forWork;
  return { freeBytes, hasMemory, pressure: () => (isFull() ? "disk_full" : pressure()) };
};

const openBlobFolder = (directory: string): string => {
  const blobs = join(directory, "blobs");
  mkdirSync(blobs, { recursive: true, mode: 0o700 });
  completeFolder(directory);
  return blobs;
};

/** Each waiting request listens to the signal, and Node reports more than ten listeners as a leak. */
const createStopping = (): AbortController => {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  return stopping;
};

const openOutside = (
  { OUTBOUND_ALLOW_PRIVATE: allowed, SMTP_URL = "" }: Environment,
  dns: Dns,
  counters: Counters | undefined,
): Pick<AppWorld, "https" | "mailer"> => {
  const client = createHttpsClient({ dns, port: HTTPS_PORT, allowed });
  const https = traceHttps(counters?.observeHttps(client) ?? client);
  return { https, mailer: createMailer(SMTP_URL) };
};

const readOidc = ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET: clientSecret,
}: Environment): AppWorld["settings"]["oidc"] =>
  issuer && clientId ? { issuer, clientId, clientSecret: clientSecret ?? null } : null;

/** Loads the client of the identity provider with the first sign-in. */
const openSignIn = (
  environment: Environment,
  now: AppWorld["now"],
): Pick<AppWorld, "oidc" | "passkeys"> => {
  let opened: ReturnType<AppWorld["oidc"]> | undefined;
  const open = async () => {
    const settings = readOidc(environment);
    if (!settings) throw new Error("The setting OIDC_ISSUER is missing.");
    const { createOidc } = await import("@mailproof/net/oidc");
    return createOidc(settings, now);
  };
  return { oidc: () => (opened ??= open()), passkeys: passkeyVerifier };
};

const createObservers = (counters: Counters | undefined) => ({
  connections: counters?.connections,
  onSession: (report: SessionReport): void => {
    counters?.onSession(report);
    recordSessionSpan(report);
  },
});

const toSettings = (
  environment: Environment,
  secrets: ReturnType<typeof loadSecrets>,
): AppWorld["settings"] => ({
  version: manifest.version,
  ...readSecrets(environment, secrets),
  activityPool: environment.ACTIVITY_POOL,
  sesAccount: environment.SES_ACCOUNT ?? null,
  mailDomain: environment.MAIL_DOMAIN ?? null,
  oidc: readOidc(environment),
  mailFrom: environment.SMTP_URL === undefined ? null : (environment.MAIL_FROM ?? null),
  publicUrl: environment.PUBLIC_URL?.replace(/\/$/, "") ?? null,
  chunkRows: CHUNK_ROWS,
  // A single thread would make all parts, so parts would gain nothing.
  exportRows: { ...EXPORT_ROWS, part: Number.POSITIVE_INFINITY },
  slowRowsAfterMs: SLOW_ROWS_AFTER_MS,
  // All transactions go to one file in sequence, so shards would only cost reads.
  creditsPerShard: Number.POSITIVE_INFINITY,
});

const readSecrets = (
  environment: Environment,
  { key_pepper, link_secret }: ReturnType<typeof loadSecrets>,
) => {
  const cursors = deriveSecret(link_secret, "cursors");
  const activity = deriveSecret(key_pepper, "activity");
  const sealing = deriveSecret(link_secret, "encrypted secrets");
  const toBefore = (value: string | undefined, generated: string): string | null =>
    value === GENERATED ? generated : value || null;
  return {
    keyPepper: environment.KEY_PEPPER ?? key_pepper,
    keyPepperBefore: toBefore(environment.KEY_PEPPER_BEFORE, key_pepper),
    cursorSecret: environment.CURSOR_SECRET ?? cursors,
    cursorSecretBefore: toBefore(environment.CURSOR_SECRET_BEFORE, cursors),
    activityKey: environment.ACTIVITY_KEY ?? activity,
    activityKeyBefore: toBefore(environment.ACTIVITY_KEY_BEFORE, activity),
    encryptionKey: environment.SEALING_KEY ?? sealing,
    encryptionKeyBefore: toBefore(environment.SEALING_KEY_BEFORE, sealing),
  };
};

const trustedTokens = (
  { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience }: Environment,
  now: AppWorld["now"],
) => (issuer && audience ? createTokenVerifier({ issuer, audience }, now) : null);

/** One secret may serve several purposes when no derived secret reveals another. */
const deriveSecret = (secret: string, end: string): string =>
  createHmac("sha256", secret).update(end).digest("base64url");
