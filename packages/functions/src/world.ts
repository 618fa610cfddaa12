import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { rateLimitOver } from "@mailproof/core/access/rate";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Names } from "@mailproof/core/deliverability/names";
import { CHUNK_ROWS, type Settings } from "@mailproof/core/settings";
import type { Table } from "@mailproof/core/table";
import type { Engine } from "@mailproof/core/verify/engine";
import type { World } from "@mailproof/core/world";
import { tokensOf } from "@mailproof/net/tokens";
import manifest from "../package.json" with { type: "json" };
import type { Aws } from "./aws/aws.ts";
import { type StateDoors, stateDoors } from "./aws/doors.ts";
import { awsOfLambda } from "./aws/of-lambda.ts";
import { lambdaLog } from "./log.ts";
import { type Environment, required } from "./settings.ts";
import { trustedIssuer } from "./trusted-issuer.ts";

/** What a way to the mail system or to the DNS is made from. */
export type Ground = Pick<World, "now" | "random" | "sleep"> & {
  readonly environment: Environment;
  readonly aws: Aws;
  readonly table: Table;
};

/**
 * The way to mail servers, to the DNS, or to neither. A parameter, and not a part of the world: lists, rules and a
 * resolver are half of what a Lambda weighs, and most have no use for them. reach/ has one file for each.
 */
export type Reach = (ground: Ground) => Partial<Pick<AppWorld, "engine" | "names" | "https">>;

/** All that a Lambda has which nobody calls on behalf of an account: it is told no secret of theirs. */
export const awsGround = (environment: Environment = process.env): Ground & StateDoors => {
  const aws = awsOfLambda(environment);
  const { now, random } = aws;
  const sleep: World["sleep"] = (ms, signal) =>
    setTimeout(ms, undefined, { signal }).catch(() => undefined);
  return { ...stateDoors(aws, environment), environment, aws, now, random, sleep };
};

/** The composition root on AWS: the one file that knows which doors are real. Built once per cold start. */
export const awsWorld = (
  reach: Reach = () => ({}),
  environment: Environment = process.env,
): AppWorld => {
  const settings = settingsIn(environment);
  const ground = awsGround(environment);
  const { table, queue, blobs, now, random, sleep } = ground;
  const trust = trustedIssuer(environment);
  return {
    table,
    queue,
    blobs,
    rateLimit: rateLimitOver(table, now),
    tokens: trust && tokensOf(trust, now),
    engine: noEngine(now),
    names: NO_NAMES,
    https: { check: unreached, call: unreached },
    ...reach(ground),
    now,
    random,
    randomBytes,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    sleep,
    log: lambdaLog(),
    settings,
  };
};

/** First of all, so that such a Lambda without its secrets does not start, and says what is missing. */
const settingsIn = (environment: Environment): Settings => ({
  version: manifest.version,
  keyPepper: required(environment, "KEY_PEPPER"),
  cursorSecret: required(environment, "CURSOR_SECRET"),
  activityKey: required(environment, "ACTIVITY_KEY"),
  activityPool: environment["ACTIVITY_POOL"] === "shared" ? "shared" : "own",
  sesAccount: environment["SES_ACCOUNT"] ?? null,
  sealingKey: required(environment, "SEALING_KEY"),
  chunkRows: CHUNK_ROWS,
});

const unreached = () =>
  Promise.reject(new Error("This Lambda was built without a way there: see its endpoint's needs."));

const noEngine = (now: () => Date): Engine => ({
  hostsOf: unreached,
  probe: unreached,
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

const NO_NAMES: Names = {
  dns: unreached,
  listDns: unreached,
  allowed: [],
  blocklists: { listsFor: () => [], keys: {}, isHealthy: unreached },
};
