import { randomBytes, randomUUID } from "node:crypto";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Issuers } from "@mailproof/core/control/issuers";
import type { Reading } from "@mailproof/core/deliverability/reading";
import type { PasskeyVerifier } from "@mailproof/core/people/passkeys";
import type { Blobs } from "@mailproof/core/ports/blobs";
import type { Https } from "@mailproof/core/ports/https";
import type { Mailer } from "@mailproof/core/ports/mailer";
import { ONE_REQUEST } from "@mailproof/core/ports/one-request";
import type { Queue } from "@mailproof/core/ports/queue";
import {
  CHUNK_ROWS,
  CREDITS_PER_SHARD,
  EXPORT_ROWS,
  type Settings,
} from "@mailproof/core/ports/settings";
import type { Table } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import { createRequestLog } from "@mailproof/core/requests/request-log";
import { createListReads } from "@mailproof/core/runtime/list-reads";
import { UNLIMITED_POLLS } from "@mailproof/core/runtime/long-polls";
import type { Engine } from "@mailproof/core/verify/engine";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import { EDITION } from "@mailproof/mail/lists/edition";
import type { Lists } from "@mailproof/mail/lists/lists";
import { sleep } from "@mailproof/net/sleep";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import manifest from "../package.json" with { type: "json" };
import { createDynamoTable } from "./aws/dynamo-table.ts";
import { createLambdaAws } from "./aws/lambda-aws.ts";
import type { Aws } from "./aws/requests.ts";
import { createLambdaLog } from "./log.ts";
import { countCredits } from "./measure/credits.ts";
import { type LambdaEnvironment, requireSetting } from "./settings.ts";
import { readOidc, readTrustedIssuer } from "./trusted-issuer.ts";

/** The inputs of a capability. */
export type BaseContext = Pick<World, "now" | "random" | "sleep"> & {
  readonly environment: LambdaEnvironment;
  readonly aws: Aws;
  readonly table: Table;
};

/**
 * Adds a queue, files, mail servers or the DNS to a Lambda's world; capabilities/ has a file for each. An entry imports
 * only the capabilities that it uses, since the SDK's clients, lists, rules and a resolver are most of a bundle's size.
 */
export type Capability = (
  base: BaseContext,
) => Partial<
  Pick<
    AppWorld,
    | "queue"
    | "blobs"
    | "engine"
    | "names"
    | "reading"
    | "https"
    | "issuers"
    | "oidc"
    | "mailer"
    | "passkeys"
  >
>;

/** The world of a Lambda that does not act for accounts and therefore receives no secret of theirs. */
export const createBaseContext = (environment: LambdaEnvironment = process.env): BaseContext => {
  const aws = createLambdaAws(environment);
  const { now, random } = aws;
  const { TABLE_NAME } = environment;
  const table = TABLE_NAME
    ? createDynamoTable(aws, TABLE_NAME)
    : createMissingPort<Table>("The setting TABLE_NAME is missing.");
  return { environment, aws, table, now, random, sleep };
};

/** The composition root on AWS: this file selects the adapters. Built once per cold start. */
export const createLambdaWorld = (
  capabilities: readonly Capability[] = [],
  environment: LambdaEnvironment = process.env,
): AppWorld => {
  const settings = readSettings(environment);
  const base = createBaseContext(environment);
  const { table, now, random, sleep } = base;
  const trust = readTrustedIssuer(environment);
  return {
    table: countCredits(table),
    queue: createMissingPort<Queue>(UNAVAILABLE),
    blobs: createMissingPort<Blobs>(UNAVAILABLE),
    rateLimit: createRateLimit(table, now),
    requestLog: createRequestLog(table, now),
    accessTokens: trust && createTokenVerifier(trust, now),
    engine: createMissingEngine(now),
    names: MISSING_DNS_LOOKUPS,
    reading: createMissingPort<Reading>(UNAVAILABLE),
    https: createMissingPort<Https>(UNAVAILABLE),
    mailer: createMissingPort<Mailer>(UNAVAILABLE),
    issuers: createMissingPort<Issuers>(UNAVAILABLE),
    oidc: rejectUnavailable,
    passkeys: createMissingPort<PasskeyVerifier>(UNAVAILABLE),
    ...Object.assign({}, ...capabilities.map((add) => add(base))),
    now,
    random,
    randomBytes,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    ...ONE_REQUEST,
    longPolls: UNLIMITED_POLLS,
    listReads: createListReads(now),
    sleep,
    log: createLambdaLog(),
    settings,
  };
};

/** The code reads each secret at its first use, because a Lambda receives only the secrets that it needs. */
const readSettings = (environment: LambdaEnvironment): Settings => ({
  version: manifest.version,
  get keyPepper() {
    return requireSetting(environment, "KEY_PEPPER");
  },
  keyPepperBefore: environment["KEY_PEPPER_BEFORE"] || null,
  get cursorSecret() {
    return requireSetting(environment, "CURSOR_SECRET");
  },
  cursorSecretBefore: environment["CURSOR_SECRET_BEFORE"] || null,
  get activityKey() {
    return requireSetting(environment, "ACTIVITY_KEY");
  },
  activityKeyBefore: environment["ACTIVITY_KEY_BEFORE"] || null,
  activityPool: environment["ACTIVITY_POOL"] === "shared" ? "shared" : "own",
  sesAccount: environment["SES_ACCOUNT"] ?? null,
  mailDomain: environment["MAIL_DOMAIN"]?.toLowerCase() ?? null,
  oidc: readOidc(environment),
  mailFrom: environment["MAIL_FROM"] || null,
  publicUrl: environment["PUBLIC_URL"]?.replace(/\/$/, "") || null,
  get encryptionKey() {
    return requireSetting(environment, "SEALING_KEY");
  },
  encryptionKeyBefore: environment["SEALING_KEY_BEFORE"] || null,
  chunkRows: CHUNK_ROWS,
  exportRows: EXPORT_ROWS,
  slowRowsAfterMs: Number.POSITIVE_INFINITY,
  creditsPerShard: CREDITS_PER_SHARD,
});

const UNAVAILABLE = "This Lambda lacks the capability: see its endpoint's needs.";

const rejectUnavailable = () => Promise.reject(new Error(UNAVAILABLE));

const MISSING_LISTS: Lists = {
  disposable: () => false,
  decide: () => undefined,
  disposableHint: () => false,
  free: () => false,
  role: () => null,
  trap: () => false,
  relay: () => false,
  squat: () => null,
  rareEnding: () => false,
  // All Lambdas of a deployment contain the same edition.
  edition: EDITION,
  versions: [],
  current: () => MISSING_LISTS,
};

export const createMissingEngine = (now: () => Date): Engine => ({
  findMailHosts: rejectUnavailable,
  probe: rejectUnavailable,
  lists: MISSING_LISTS,
  now,
  ...QUIET_ENGINE,
});

const MISSING_DNS_LOOKUPS: DnsLookups = {
  dns: rejectUnavailable,
  listDns: rejectUnavailable,
  dkimSelectors: [],
  allowed: [],
  blocklists: { listsFor: () => [], keys: {}, isHealthy: rejectUnavailable },
};

/** Replaces a port that a Lambda lacks: every call throws an error with the reason. */
export const createMissingPort = <Port extends object>(why: string): Port =>
  new Proxy({} as Port, { get: () => () => Promise.reject(new Error(why)) });
