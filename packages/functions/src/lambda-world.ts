import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import type { DnsLookups } from "@mailproof/core/deliverability/dns-lookups";
import { CHUNK_ROWS, type Settings } from "@mailproof/core/ports/settings";
import type { Table } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import type { Engine } from "@mailproof/core/verify/engine";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import manifest from "../package.json" with { type: "json" };
import { createLambdaAws } from "./aws/lambda-aws.ts";
import type { Aws } from "./aws/requests.ts";
import { createStatePorts, type StatePorts } from "./aws/state-ports.ts";
import { createLambdaLog } from "./log.ts";
import { type LambdaEnvironment, requireSetting } from "./settings.ts";
import { readTrustedIssuer } from "./trusted-issuer.ts";

/** The values that a capability is made from. */
export type BaseContext = Pick<World, "now" | "random" | "sleep"> & {
  readonly environment: LambdaEnvironment;
  readonly aws: Aws;
  readonly table: Table;
};

/**
 * Access to mail servers, to the DNS, or to neither. A parameter, and not a part of the world: lists, rules and a
 * resolver are half of a bundle's size, and most Lambdas do not use them. capabilities/ has one file for each.
 */
export type Capability = (
  base: BaseContext,
) => Partial<Pick<AppWorld, "engine" | "names" | "https">>;

/** The world of a Lambda that does not act for accounts: it gets none of their secrets. */
export const createBaseContext = (
  environment: LambdaEnvironment = process.env,
): BaseContext & StatePorts => {
  const aws = createLambdaAws(environment);
  const { now, random } = aws;
  const sleep: World["sleep"] = (ms, signal) =>
    setTimeout(ms, undefined, { signal }).catch(() => undefined);
  return { ...createStatePorts(aws, environment), environment, aws, now, random, sleep };
};

/** The composition root on AWS: this file selects the adapters. Built once per cold start. */
export const createLambdaWorld = (
  addCapability: Capability = () => ({}),
  environment: LambdaEnvironment = process.env,
): AppWorld => {
  const settings = readSettings(environment);
  const base = createBaseContext(environment);
  const { table, queue, blobs, now, random, sleep } = base;
  const trust = readTrustedIssuer(environment);
  return {
    table,
    queue,
    blobs,
    rateLimit: createRateLimit(table, now),
    accessTokens: trust && createTokenVerifier(trust, now),
    engine: createMissingEngine(now),
    names: MISSING_DNS_LOOKUPS,
    https: { check: rejectUnavailable, call: rejectUnavailable },
    ...addCapability(base),
    now,
    random,
    randomBytes,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    sleep,
    log: createLambdaLog(),
    settings,
  };
};

/** Read first, so that a Lambda without its secrets does not start and reports the missing one. */
const readSettings = (environment: LambdaEnvironment): Settings => ({
  version: manifest.version,
  keyPepper: requireSetting(environment, "KEY_PEPPER"),
  cursorSecret: requireSetting(environment, "CURSOR_SECRET"),
  activityKey: requireSetting(environment, "ACTIVITY_KEY"),
  activityPool: environment["ACTIVITY_POOL"] === "shared" ? "shared" : "own",
  sesAccount: environment["SES_ACCOUNT"] ?? null,
  encryptionKey: requireSetting(environment, "SEALING_KEY"),
  chunkRows: CHUNK_ROWS,
});

const rejectUnavailable = () =>
  Promise.reject(new Error("This Lambda lacks the capability: see its endpoint's needs."));

const createMissingEngine = (now: () => Date): Engine => ({
  findMailHosts: rejectUnavailable,
  probe: rejectUnavailable,
  lists: {
    disposable: () => false,
    disposableHint: () => false,
    free: () => false,
    role: () => null,
    trap: () => false,
    relay: () => false,
    squat: () => false,
    versions: [],
  },
  now,
});

const MISSING_DNS_LOOKUPS: DnsLookups = {
  dns: rejectUnavailable,
  listDns: rejectUnavailable,
  dkimSelectors: [],
  allowed: [],
  blocklists: { listsFor: () => [], keys: {}, isHealthy: rejectUnavailable },
};
