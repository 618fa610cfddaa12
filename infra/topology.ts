import { basename } from "node:path";
import { endpoints, programEndpoints } from "@mailproof/api/endpoints";
import { verifyEmail } from "@mailproof/api/endpoints/verify-email";
import { schedules, workers } from "@mailproof/core/background/workers";
import { BLOB_RETENTION_DAYS, type RetentionPrefix } from "@mailproof/core/ports/blobs";
import {
  isDeadLetterQueue,
  type QueueConfig,
  toDeadLetterQueue,
} from "@mailproof/core/ports/queue";
import { LEASE_MS } from "@mailproof/core/smtp-pool/slots/provider-state";
import { getEntryFile, getWorkerEntryFile } from "../packages/functions/entries.ts";
import type { Need } from "./iam.ts";
import { QUOTA } from "./quota.ts";
import type { Settings } from "./settings.ts";

// The resources on AWS, as data, derived from the lists of endpoints, workers and schedules. SST deploys them
// (infra/*.ts), CDK monitors them (infra/cdk/), and tests compare both with it. This file imports neither.

export type Lambda = {
  /** Only letters, such as HttpVerifyEmail or WorkerChunks. The names of its resources begin with it. */
  readonly name: string;
  readonly handler: string;
  readonly needs: readonly Need[];
  /** A Lambda that does not act for accounts receives none of their settings. */
  readonly actsForAccounts: boolean;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /**
   * The number of concurrent Lambdas, which are reserved if the account's quota allows it. Null: the Lambda
   * shares the unreserved concurrency.
   */
  readonly reserved: number | null;
};

export type Route = { readonly route: string; readonly lambda: Lambda };
export type WorkerSpec = {
  readonly queue: string;
  readonly lambda: Lambda;
  /** The batch size of the event source. */
  readonly batch: number;
};
export type ScheduleSpec = { readonly everySeconds: number; readonly lambda: Lambda };
export type QueueSpec = {
  readonly name: string;
  /** Null for a dead-letter queue. */
  readonly receivesMax: number | null;
  readonly visibilitySeconds: number;
  readonly retentionDays: number;
};

const HANDLERS = "packages/functions/src";

/** API Gateway waits for 30 s, and our response must come first. Each wait within a request is shorter. */
const HTTP_SECONDS = 29;
/** Processor time scales with memory: 1,769 MB is one whole processor. */
const MEMORY_MB = 512;
const WHOLE_PROCESSOR_MB = 1_769;
/** Routes that read or write whole lists. */
const HEAVY: readonly string[] = [
  "POST /v1/verify/batch",
  "POST /v1/verify/file",
  "GET /v1/jobs/{id}/download",
  // Its bundle is the largest.
  "ANY /mcp",
];

export const toPascalCase = (name: string): string =>
  `-${name}`.replaceAll(/[-_]+(.)?/g, (_, letter: string = "") => letter.toUpperCase());

/** A key identifies a caller, and a hash of the network identifies a visitor behind a public key. */
const IDENTIFIES: readonly Need[] = ["keys:check", "activity"];

const createHttpLambda = (route: string, file: string, needs: readonly Need[]): Lambda => ({
  name: toPascalCase(`http-${basename(file, ".ts").replace("$", "")}`),
  handler: file.replace(/\.ts$/, ".handler"),
  needs,
  // Documents, the dashboard, 404 and 405 are the same for all.
  actsForAccounts: route !== DEFAULT_ROUTE,
  timeoutSeconds: HTTP_SECONDS,
  memoryMb: HEAVY.includes(route) ? WHOLE_PROCESSOR_MB : MEMORY_MB,
  reserved: null,
});

/** The route of agents' tools. API Gateway passes every method on, since MCP requires a refusal of all but POST. */
const TOOLS = "ANY /mcp";
const toolNeeds = [...new Set([...programEndpoints.flatMap(({ needs }) => needs), ...IDENTIFIES])];

/** The routes for other verifiers' clients, which verify one address. Each vendor allows other methods. */
const COMPAT = "ANY /compat/{vendor}/{path+}";

/** The keys of API Gateway that invoke a route's Lambda: a Lambda with GET also gets HEAD. */
export const listRouteKeys = (route: string): readonly string[] =>
  route.startsWith("GET ") ? [route, route.replace("GET", "HEAD")] : [route];

/** Requests without a route get the documents, the dashboard, and our 404 and 405. */
const DEFAULT_ROUTE = "$default";

export const routes: readonly Route[] = [
  ...endpoints.map((endpoint) => ({
    route: endpoint.route,
    lambda: createHttpLambda(endpoint.route, getEntryFile(endpoint), [
      ...endpoint.needs,
      ...IDENTIFIES,
    ]),
  })),
  { route: TOOLS, lambda: createHttpLambda(TOOLS, `${HANDLERS}/http/mcp.ts`, toolNeeds) },
  {
    route: COMPAT,
    lambda: createHttpLambda(COMPAT, `${HANDLERS}/http/compat.ts`, [
      ...verifyEmail.needs,
      ...IDENTIFIES,
    ]),
  },
  {
    route: DEFAULT_ROUTE,
    lambda: createHttpLambda(DEFAULT_ROUTE, `${HANDLERS}/http/${DEFAULT_ROUTE}.ts`, ["dashboard"]),
  },
];

/** Lambda's own limit. */
const LAMBDA_SECONDS_MAX = 900;

/** A worker's timeout is the visibility timeout of its queue, on AWS and on one machine. */
const getWorkSeconds = ({ visibilitySeconds }: QueueConfig): number =>
  Math.min(visibilitySeconds, LAMBDA_SECONDS_MAX);

/** A verdict depends on the bounces of its recipient, and becomes part of this history. */
const listVerdictSecrets = (needs: readonly Need[]): readonly Need[] =>
  needs.includes("smtp") || needs.includes("lists") ? ["activity"] : [];

export const workerSpecs: readonly WorkerSpec[] = workers.map((worker) => {
  const { queue, needs, lambda } = worker;
  return {
    queue: queue.name,
    batch: lambda.batch,
    lambda: {
      name: toPascalCase(`worker-${queue.name}`),
      handler: getWorkerEntryFile(worker).replace(/\.ts$/, ".handler"),
      needs: [...needs, ...listVerdictSecrets(needs), "queue:receive"],
      actsForAccounts: true,
      timeoutSeconds: getWorkSeconds(queue),
      memoryMb: lambda.isHeavy ? WHOLE_PROCESSOR_MB : MEMORY_MB,
      reserved: lambda.concurrency,
    },
  };
});

/**
 * Lambda may need several attempts to invoke the function, so AWS recommends six times the timeout. A worker that fails
 * makes its message visible within a minute; this applies only to a worker that is killed.
 */
const VISIBILITY_TIMES = 6;
/** A dead letter keeps its first enqueue time, so it needs a longer retention than the queue it comes from. */
const RETENTION_DAYS = 4;
const DEAD_LETTER_RETENTION_DAYS = 14;

const getVisibility = (queue: QueueConfig): number => VISIBILITY_TIMES * getWorkSeconds(queue);

const createQueueSpecs = (queue: QueueConfig): readonly QueueSpec[] => [
  {
    name: toDeadLetterQueue(queue).name,
    receivesMax: null,
    visibilitySeconds: getVisibility(queue),
    retentionDays: DEAD_LETTER_RETENTION_DAYS,
  },
  {
    name: queue.name,
    receivesMax: queue.receivesMax,
    visibilitySeconds: getVisibility(queue),
    retentionDays: RETENTION_DAYS,
  },
];

/** Each queue after its dead-letter queue, with or without a worker for that. */
export const queues: readonly QueueSpec[] = workers
  .map(({ queue }) => queue)
  .filter(({ name }) => !isDeadLetterQueue(name))
  .flatMap(createQueueSpecs);

type Scheduled = Pick<Lambda, "name" | "timeoutSeconds" | "needs"> & {
  readonly everySeconds: number;
};

/** The bundle of each of these Lambdas contains the list of repairs. */
const REPAIRS: readonly Need[] = ["activity", "seal"];

const RECONCILER_NEEDS: readonly Need[] = [
  "table:readwrite",
  "blobs:read",
  "blobs:write",
  "queue:send",
  "dns",
  ...REPAIRS,
];

/** The schedules of core, and two that only AWS has: on one machine an operator runs their commands. */
const SCHEDULED: readonly Scheduled[] = [
  ...schedules.map(
    ({ name, everySeconds }): Scheduled => ({
      name,
      everySeconds,
      // A run that is still going when the next is due continues; one started at the same time waits for it.
      timeoutSeconds: Math.min(5 * everySeconds, LAMBDA_SECONDS_MAX),
      needs: name === "letters" ? ["table:readwrite", "queue:send"] : RECONCILER_NEEDS,
    }),
  ),
  // Measures how late scheduled work is, and how long credits have been held.
  { name: "gauge", everySeconds: 60, timeoutSeconds: 55, needs: ["table:read", ...REPAIRS] },
  // Adds up the ledger's open months, and closes those that are over.
  { name: "audit", everySeconds: 86_400, timeoutSeconds: 900, needs: ["table:readwrite"] },
];

export const scheduleSpecs: readonly ScheduleSpec[] = SCHEDULED.map((schedule) => ({
  everySeconds: schedule.everySeconds,
  lambda: {
    name: toPascalCase(`schedule-${schedule.name}`),
    handler: `${HANDLERS}/schedules/${schedule.name}.handler`,
    needs: schedule.needs,
    actsForAccounts: true,
    timeoutSeconds: schedule.timeoutSeconds,
    memoryMb: MEMORY_MB,
    reserved: 1,
  },
}));

/** Talks to mail servers for endpoints, which are outside the VPC. */
export const prober: Lambda = {
  name: "Prober",
  handler: `${HANDLERS}/workers/prober.handler`,
  needs: ["table:mail-hosts", "smtp"],
  // It parses replies of untrusted servers, so it has no secrets.
  actsForAccounts: false,
  // An SMTP session that is stopped by this has timed out at the mail server already.
  timeoutSeconds: LEASE_MS / 1_000,
  memoryMb: MEMORY_MB,
  reserved: 200,
};

/** The alias that callers and queues have, which a release moves to new versions in steps (infra/deploy/release.ts). */
export const LIVE = "live";
/** The name under which a stage publishes the newest versions of its Lambdas. */
export const VERSIONS = "versions";
export const released: readonly Lambda[] = [...routes, ...workerSpecs].map(({ lambda }) => lambda);

/** The key prefix of uploads. */
export const UPLOADS: RetentionPrefix = "uploads/";

/** S3 calls this Lambda after each upload. It removes an upload over the limit, even while callers use all other Lambdas. */
export const uploadLimit: Lambda = {
  name: "UploadLimit",
  handler: `${HANDLERS}/workers/upload-limit.handler`,
  needs: ["uploads:remove"],
  actsForAccounts: false,
  timeoutSeconds: 30,
  memoryMb: MEMORY_MB,
  reserved: 2,
};

/** Only Lambdas that open SMTP sessions are in the VPC: they use our fixed addresses. */
export const isInNetwork = ({ needs }: Lambda): boolean => needs.includes("smtp");

export const lambdas: readonly Lambda[] = [
  prober,
  uploadLimit,
  ...routes.map(({ lambda }) => lambda),
  ...workerSpecs.map(({ lambda }) => lambda),
  ...scheduleSpecs.map(({ lambda }) => lambda),
];

export { TABLE_SHAPE as table } from "@mailproof/functions/aws/table-shape";

/** Days after which objects expire, by key prefix. */
export const blobRetentionDays: Readonly<Record<string, number>> = BLOB_RETENTION_DAYS;

/** Requests of all callers beyond which API Gateway answers 429. A plan's own limit is far lower. */
export const throttle = { perSecond: 2_000, burst: 4_000 } as const;

export const RUNTIME = "nodejs24.x";
export const ARCHITECTURE = "arm64";
/** Retention of all logs about requests. */
export const LOG_RETENTION = "1 month";

/** The availability zones of the VPC, with a fixed address in each. */
export const ZONES = [0, 1] as const;

/** Lists the zones in which the stage has its own NAT gateway. */
export const listGateways = ({ size, vpc }: Settings): readonly number[] =>
  size === "full" && vpc === "own" ? ZONES : [];

/** Resources whose names a stage publishes for its operator and for monitoring (infra/published-names.ts). */
export const listPublishedNames = (settings: Settings): readonly string[] => [
  QUOTA,
  VERSIONS,
  "api",
  "table",
  "feedback",
  "url",
  ...(settings.vpc === "none" ? [] : ["egress"]),
  ...(settings.exits > 0 ? ["exits"] : []),
  ...listGateways(settings).map((zone) => `nat/${zone}`),
  ...queues.map(({ name }) => `queue/${name}`),
  ...lambdas.map(({ name }) => `lambda/${name}`),
];
