import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Logger } from "@aws-lambda-powertools/logger";
import { rateLimitOver } from "@mailproof/core/access/rate";
import type { Blobs } from "@mailproof/core/blobs";
import type { Names } from "@mailproof/core/deliverability/names";
import { BLOCKLISTS } from "@mailproof/core/mail/blocklists/lists";
import type { Lists } from "@mailproof/core/mail/lists/lists";
import type { Queue } from "@mailproof/core/queue";
import { redact } from "@mailproof/core/redact";
import { CHUNK_ROWS } from "@mailproof/core/settings";
import type { Table } from "@mailproof/core/table";
import type { Log, World } from "@mailproof/core/world";
import { tokensOf } from "@mailproof/net/tokens";
import manifest from "../package.json" with { type: "json" };

/** The composition root on AWS: the one file that knows which doors are real. Built once per cold start. */
export const awsWorld = (): World => {
  const now = () => new Date();
  return {
    table,
    queue,
    blobs,
    rateLimit: rateLimitOver(table, now),
    tokens: trustedTokens(now),
    engine: { hostsOf: notDeployed, probe: notDeployed, lists: NO_LISTS, now },
    names: NO_NAMES,
    https: { check: notDeployed, call: notDeployed },
    now,
    random: Math.random,
    randomBytes,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
    log: logTo(new Logger({ serviceName: "mailproof" })),
    settings: {
      version: manifest.version,
      keyPepper: required("KEY_PEPPER"),
      cursorSecret: required("CURSOR_SECRET"),
      activityKey: required("ACTIVITY_KEY"),
      activityPool: process.env["ACTIVITY_POOL"] === "shared" ? "shared" : "own",
      sesAccount: process.env["SES_ACCOUNT"] ?? null,
      sealingKey: required("SEALING_KEY"),
      chunkRows: CHUNK_ROWS,
    },
  };
};

const trustedTokens = (now: World["now"]) => {
  const issuer = process.env["OAUTH_ISSUER"];
  return issuer ? tokensOf({ issuer, audience: required("OAUTH_AUDIENCE") }, now) : null;
};

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`The setting ${name} is missing.`);
  return value;
};

export const logTo =
  (logger: Pick<Logger, "info">): Log =>
  (event, fields) =>
    logger.info(event, redact(fields) as Record<string, unknown>);

// DynamoDB, SQS and S3 join with the deployment; until then a handler that is not given a world of its own
// answers 503 and says so in the log.
const notDeployed = () => Promise.reject(new Error("This door has no AWS implementation yet."));
const NO_LISTS: Lists = {
  disposable: () => false,
  disposableHint: () => false,
  free: () => false,
  role: () => null,
  trap: () => false,
  relay: () => false,
  versions: [],
};
const NO_NAMES: Names = {
  dns: notDeployed,
  listDns: notDeployed,
  allowed: [],
  blocklists: { listsFor: () => BLOCKLISTS, keys: {}, isHealthy: notDeployed },
};
const table: Table = {
  get: notDeployed,
  query: notDeployed,
  write: notDeployed,
  transact: notDeployed,
};
const queue: Queue = { sendMany: notDeployed, countDead: notDeployed };
const blobs: Blobs = {
  put: notDeployed,
  head: notDeployed,
  get: notDeployed,
  remove: notDeployed,
  putLink: notDeployed,
  getLink: notDeployed,
};
