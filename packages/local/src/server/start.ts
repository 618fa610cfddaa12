import { once } from "node:events";
import { rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { toInvitationUrl } from "@mailproof/api/http/session";
import { schedules, workers } from "@mailproof/core/background/workers";
import type { MeasuredReach } from "@mailproof/core/egress/reach";
import { withTimeout } from "@mailproof/core/lib/timeout";
import { invite } from "@mailproof/core/people/invitations";
import { hasNobody } from "@mailproof/core/people/people";
import { type Lab, startLab } from "@mailproof/lab/lab";
import { MCP_PATH } from "@mailproof/mcp/origin";
import { type App, createApp } from "../app.ts";
import type { Environment } from "../environment.ts";
import { createLineLog } from "../line-log.ts";
import { isLabEnabled } from "../mail-ports.ts";
import type { Counters } from "../metrics/counters.ts";
import { writeFileAtomic } from "../storage/atomic-file.ts";
import { toCountFile } from "../storage/commit-count.ts";
import { clearUnfinished } from "../storage/file-blobs.ts";
import { lockFolder } from "../storage/folder-lock.ts";
import { maskSettings } from "../storage/running-settings.ts";
import { getMessage, isDamage } from "../storage/sqlite.ts";
import { assertDemoExists, MARKER, markDemo, REMEDY } from "../storage/state-folder.ts";
import { COPIES, createCopySweeper } from "../storage/upgrade-copies.ts";
import { upgradeFolder } from "../storage/upgrade-folder.ts";
import { flushSpans, traceWorker } from "../tracing.ts";
import { runBackground } from "./background.ts";
import { createClockWatch } from "./clock-watch.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "./connections.ts";
import { openDashboard } from "./dashboard.ts";
import { type DemoAccount, ensureDemoAccount } from "./demo.ts";
import { countFreeDescriptors, createOwnErrorWatch, shareDescriptors } from "./descriptors.ts";
import { createOperatorRoutes } from "./operator.ts";
import { createApiServer } from "./server.ts";
import { createSite, isLoopback, listWarnings, toLocalUrl } from "./site.ts";
import { createBlobSweeper, createSweeper } from "./sweepers.ts";

// `start` opens the whole product in one process. It locks and upgrades the folder, opens the app (ports, services), and
// then the API (server.ts), the dashboard, metrics, the mail receiver and the background work (background.ts: workers,
// schedules, sweepers). A request waits for its turn on its connection (connections.ts) and takes a share of the server
// (slots.ts); its body is read within a budget (request-body.ts), `respond` of packages/api answers it, and response-body.ts
// sends the answer at the client's pace. Meanwhile lists give way (callers-first.ts), and new paid work is refused under
// pressure (pressure.ts). `serve` (serve.ts) prints the first screen and calls `stop` at a signal.

/** The time that a stop waits for requests and workers: a slow mail server can keep a worker busy for minutes. */
const DRAIN_MS = 10_000;
/** More than the round trip of most clients. */
const GRACE_MS = 300;
/** The time that a stop waits for the collector of traces. */
const FLUSH_MS = 3_000;

/** Every file that a server stores in its folder, by name: the folder may contain other files. */
const STATE_FILES = ["state.sqlite", "queue.sqlite"]
  .flatMap((file) => [file, `${file}-wal`, `${file}-shm`, toCountFile(file)])
  .concat("blobs", "secrets.json", "demo.json", "ready.json", MARKER, COPIES);

const resetState = (directory: string): void => {
  for (const name of STATE_FILES) rmSync(join(directory, name), { recursive: true, force: true });
};

export type RunningServer = {
  readonly baseUrl: string;
  readonly mcpUrl: string;
  readonly version: string;
  /** Null when the setting DEMO is off. */
  readonly demo: DemoAccount | null;
  /** The link of the first visit. Null once somebody has signed in. */
  readonly signInUrl: string | null;
  /** The result of the first measurement of whether mail servers can be reached. Never settles when nothing is measured. */
  readonly reach: Promise<MeasuredReach>;
  /** Warnings for the operator about settings that are allowed but may be a mistake. */
  readonly warnings: readonly string[];
  /**
   * Stops accepting requests, finishes those in progress and the workers' messages, then closes the files. Work that
   * takes too long is left as a crash would leave it and is resumed at the next start.
   */
  readonly stop: () => Promise<void>;
};

/** Starts the whole product in one process. Returns when it serves requests. Fresh: deletes the stored state first. */
export const start = async (
  environment: Environment,
  shouldReset: boolean,
  /** The variables that `environment` was read from. Commands beside the server read them in ready.json, without secrets. */
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<RunningServer> => {
  const directory = environment.MAILPROOF_DIR;
  const lock = lockFolder(directory);
  if (shouldReset) resetState(directory);
  if (environment.DEMO === "on") assertDemoExists(directory);
  const readyFile = join(directory, "ready.json");
  let baseUrl = "";
  const site = createSite(environment);
  const linkBase = () => site.publicUrl ?? baseUrl;
  // The lab runs as long as the server; its addresses are in ready.json.
  const lab = isLabEnabled(environment) ? await startLab() : null;
  const counters = await openCounters(environment);
  const app = await openCheckedApp(environment, linkBase, lab, counters);
  const { world, openLink, close } = app;
  app.startEngine();
  rmSync(readyFile, { force: true });
  // The folder belongs to this process, so the process that held messages has ended.
  await world.queue.releaseAbandoned();
  clearUnfinished(join(directory, "blobs"));

  const { HOST: host, PORT: port, BASE_PATH: basePath } = environment;
  const dashboard = openDashboard(world, site);
  const server = createApiServer(world, openLink, endpoints, limitConnections(), {
    site,
    dashboard,
    answerOperator: createOperatorRoutes(world, environment),
    onRequest: (request) => {
      world.log("request", request);
      counters?.onRequest(request);
    },
  });
  const httpServer = await listen(server, { host, port });
  baseUrl = toLocalUrl(httpServer.address() as AddressInfo) + basePath;
  if (!isLoopback(host)) world.log("listens_without_tls", { host });
  const mcpUrl = baseUrl + MCP_PATH;
  const { demo, signInUrl } = await openFirstVisit(environment, world, linkBase());

  const metrics =
    counters && (await (await loadMetrics()).startMetrics(environment, world, counters));

  const mail = await openMail(world, environment);

  const background = startBackground(directory, app);

  const { version } = world.settings;
  world.log("started", { version, url: baseUrl, node: process.version, pid: process.pid });
  writeFileAtomic(readyFile, {
    base_url: baseUrl,
    ...(signInUrl !== null && { sign_in_url: signInUrl }),
    ...demo,
    mcp_url: mcpUrl,
    ...(metrics && { metrics_url: metrics.url }),
    ...(mail && { mail_port: mail.port }),
    ...describeLab(lab),
    settings: maskSettings(variables),
  });

  const stop = async () => {
    rmSync(readyFile, { force: true });
    app.beginStop();
    dashboard.close();
    const ended = [drain(httpServer), background, ...(mail ? [mail.stop()] : [])];
    await withTimeout(world, DRAIN_MS, Promise.all(ended));
    await withTimeout(world, FLUSH_MS, flushSpans());
    world.log("stopped", { pid: process.pid });
    metrics?.stop();
    await app.flush();
    // The table closes before the lab, so that no worker records a host of the lab as silent.
    close();
    await lab?.close();
    lock.release();
  };
  const warnings = listWarnings(site, host);
  return { baseUrl, mcpUrl, version, demo, signInUrl, warnings, reach: app.reach.first, stop };
};

/** Each start replaces the link of the start before. An operator who revoked the demo account's key gets another account. */
const openFirstVisit = async (
  { DEMO, MAILPROOF_DIR: directory }: Environment,
  world: App["world"],
  base: string,
): Promise<Pick<RunningServer, "demo" | "signInUrl">> => {
  const demo = DEMO === "on" ? await ensureDemoAccount(directory, world) : null;
  if (demo) markDemo(directory);
  if (!(await hasNobody(world.table))) return { demo, signInUrl: null };
  const account = demo?.live_key === undefined ? null : demo.account_id;
  const request = { kind: "first", account, role: "owner", invitedBy: null } as const;
  return { demo, signInUrl: toInvitationUrl(base, (await invite(world, request)).token) };
};

// A start loads the modules of the metrics and the mail receiver only when their settings are present.
const openCounters = async ({ METRICS_PORT }: Environment): Promise<Counters | undefined> =>
  METRICS_PORT === undefined
    ? undefined
    : (await import("../metrics/counters.ts")).createCounters();

const loadMetrics = () => import("../metrics/metrics-server.ts");

const openMail = async (world: App["world"], environment: Environment) => {
  const { MAIL_DOMAIN: domain } = environment;
  if (domain === undefined) return undefined;
  const { startMailReceiver } = await import("../mail-receiver/mail-receiver.ts");
  return startMailReceiver(world, domain, environment);
};

const startBackground = (directory: string, { world, health, reach }: App): Promise<void> =>
  runBackground(
    world,
    {
      workers: workers.map(traceWorker),
      schedules: [
        ...schedules,
        createClockWatch(),
        createOwnErrorWatch(),
        createSweeper(world.table),
        createBlobSweeper(join(directory, "blobs")),
        createCopySweeper(directory),
        health.schedule,
        reach.schedule,
      ],
    },
    world.stopping,
  );

/** Upgrades the state of an earlier release. Refuses a folder whose state cannot be read, is behind, or is newer. */
const openCheckedApp = async (
  environment: Environment,
  linkBase: () => string,
  lab: Lab | null,
  counters: Counters | undefined,
): Promise<App> => {
  try {
    const log = createLineLog(environment.LOG_LEVEL, () => new Date());
    await upgradeFolder(environment.MAILPROOF_DIR, { log });
    const app = createApp(environment, linkBase, lab, counters);
    await app.health.assertUndamaged();
    return app;
  } catch (error) {
    throw isDamage(error) ? new Error(`${getMessage(error)}. ${REMEDY}`, { cause: error }) : error;
  }
};

/** When the system allows few descriptors, connections leave enough of them to the work in progress. */
const limitConnections = (): ConnectionLimits => {
  const { connections } = shareDescriptors(countFreeDescriptors());
  const connectionsMax = Math.min(CONNECTION_LIMITS.connectionsMax, connections);
  return { ...CONNECTION_LIMITS, connectionsMax };
};

const describeLab = (lab: Lab | null) => ({
  dns: lab?.dns ?? null,
  smtp: lab && { port: lab.smtpPort, addresses: lab.smtpAddresses },
});

const listen = async (
  httpServer: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Server> => {
  httpServer.listen(port, host);
  await once(httpServer, "listening");
  return httpServer;
};

/**
 * A client that keeps a connection may be sending a request on it: it gets a response that says that the connection ends.
 * So connections that do nothing are closed a little later.
 */
const drain = async (httpServer: Server): Promise<void> => {
  const closed = once(httpServer, "close");
  await setTimeout((await countConnections(httpServer)) > 0 ? GRACE_MS : 0);
  httpServer.close();
  // A download that began before the stop leaves its connection open.
  const closing = setInterval(() => httpServer.closeIdleConnections(), GRACE_MS);
  await closed.finally(() => clearInterval(closing));
};

const countConnections = (httpServer: Server): Promise<number> =>
  promisify(httpServer.getConnections.bind(httpServer))();
