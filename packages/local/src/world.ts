import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { rateLimitOver } from "@mailproof/core/access/rate";
import type { AppWorld } from "@mailproof/core/app-world";
import { HTTPS_PORT } from "@mailproof/core/https";
import { policyFetcher } from "@mailproof/core/mail/hints/policy-fetcher";
import { redact } from "@mailproof/core/redact";
import { CHUNK_ROWS, SLOW_ROWS_AFTER_MS } from "@mailproof/core/settings";
import { engineOver } from "@mailproof/core/verify/engine";
import { httpsDoor } from "@mailproof/net/https";
import { tokensOf } from "@mailproof/net/tokens";
import manifest from "../package.json" with { type: "json" };
import { blobLinks, type OpenLink } from "./blob-links.ts";
import type { Environment } from "./environment.ts";
import { fileBlobs } from "./file-blobs.ts";
import type { Lab } from "./lab/lab.ts";
import { openMailDoors } from "./mail-doors.ts";
import { startPressureMeter } from "./pressure.ts";
import { secretsIn } from "./secrets.ts";
import { type SqliteQueue, sqliteQueue } from "./sqlite-queue.ts";
import { type SqliteTable, sqliteTable } from "./sqlite-table.ts";
import { type StateHealth, stateHealth } from "./state-check.ts";
import { completeFolder, prepareFolder } from "./state-folder.ts";
import { withUploadLimits } from "./upload-limits.ts";

export type LocalWorld = AppWorld & { readonly table: SqliteTable; readonly queue: SqliteQueue };

export type House = {
  readonly world: LocalWorld;
  readonly health: StateHealth;
  readonly openLink: OpenLink;
  readonly close: () => void;
};

/** The composition root on one machine. `baseUrl` is asked for when a link is made, not before. */
export const openHouse = (
  environment: Environment,
  baseUrl: () => string,
  lab: Lab | null,
): House => {
  const directory = environment.MAILPROOF_DIR;
  prepareFolder(directory);
  const health = stateHealth(directory);
  const secrets = secretsIn(directory);
  const now = () => new Date();
  const links = blobLinks({ secret: secrets.link_secret, baseUrl, now });
  const table = sqliteTable(join(directory, "state.sqlite"), now, (error) =>
    health.report("table", error),
  );
  const mail = openMailDoors(environment, table, lab);
  const queue = sqliteQueue(join(directory, "queue.sqlite"), now, (error) =>
    health.report("queue", error),
  );
  const allowed = environment.OUTBOUND_ALLOW_PRIVATE;
  const https = httpsDoor({ dns: mail.dns, port: HTTPS_PORT, allowed });

  const blobs = join(directory, "blobs");
  mkdirSync(blobs, { recursive: true, mode: 0o700 });
  completeFolder(directory);

  const log: AppWorld["log"] = (event, fields) => {
    const line = { at: now().toISOString(), event, ...(redact(fields) as object) };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  };
  const meter = startPressureMeter(log);

  const world: LocalWorld = {
    damagedParts: health.damagedParts,
    table,
    queue,
    blobs: withUploadLimits(fileBlobs(blobs, links.sign), { directory: blobs, now }),
    rateLimit: rateLimitOver(table, now),
    tokens: trustedTokens(environment, now),
    engine: engineOver(mail),
    names: { ...mail.names, fetchPolicy: policyFetcher(https) },
    https,
    now,
    random: Math.random,
    randomBytes,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
    log,
    pressure: meter.pressure,
    settings: {
      version: manifest.version,
      keyPepper: environment.KEY_PEPPER ?? secrets.key_pepper,
      cursorSecret: environment.CURSOR_SECRET ?? derived(secrets.link_secret, "cursors"),
      activityKey: environment.ACTIVITY_KEY ?? derived(secrets.key_pepper, "activity"),
      activityPool: environment.ACTIVITY_POOL,
      sesAccount: environment.SES_ACCOUNT ?? null,
      sealingKey: environment.SEALING_KEY ?? derived(secrets.link_secret, "sealed secrets"),
      chunkRows: CHUNK_ROWS,
      slowRowsAfterMs: SLOW_ROWS_AFTER_MS,
    },
  };
  const close = () => {
    meter.stop();
    mail.close();
    table.close();
    queue.close();
  };
  return { world, health, openLink: links.open, close };
};

const trustedTokens = (
  { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience }: Environment,
  now: AppWorld["now"],
) => (issuer && audience ? tokensOf({ issuer, audience }, now) : null);

/** One secret may serve several ends when none of them can be computed from another. */
const derived = (secret: string, end: string): string =>
  createHmac("sha256", secret).update(end).digest("base64url");
