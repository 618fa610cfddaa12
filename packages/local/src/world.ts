import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { rateLimitOver } from "@mailproof/core/access/rate";
import { redact } from "@mailproof/core/redact";
import type { World } from "@mailproof/core/world";
import manifest from "../package.json" with { type: "json" };
import { blobLinks, type OpenLink } from "./blob-links.ts";
import type { Environment } from "./environment.ts";
import { fileBlobs } from "./file-blobs.ts";
import { secretsIn } from "./secrets.ts";
import { type SqliteQueue, sqliteQueue } from "./sqlite-queue.ts";
import { type SqliteTable, sqliteTable } from "./sqlite-table.ts";

export type LocalWorld = World & { readonly table: SqliteTable; readonly queue: SqliteQueue };

export type House = {
  readonly world: LocalWorld;
  readonly openLink: OpenLink;
  readonly close: () => void;
};

/** The composition root on one machine. `baseUrl` is asked for when a link is made, not before. */
export const openHouse = (environment: Environment, baseUrl: () => string): House => {
  const directory = environment.MAILPROOF_DIR;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const secrets = secretsIn(directory);
  const now = () => new Date();
  const links = blobLinks({ secret: secrets.link_secret, baseUrl, now });
  const table = sqliteTable(join(directory, "state.sqlite"), now);
  const queue = sqliteQueue(join(directory, "queue.sqlite"), now);

  const world: LocalWorld = {
    table,
    queue,
    blobs: fileBlobs(join(directory, "blobs"), links.sign),
    rateLimit: rateLimitOver(table, now),
    now,
    random: Math.random,
    randomBytes,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    sleep: (ms) => setTimeout(ms),
    log: (event, fields) => {
      const line = { at: now().toISOString(), event, ...(redact(fields) as object) };
      process.stderr.write(`${JSON.stringify(line)}\n`);
    },
    settings: {
      version: manifest.version,
      keyPepper: environment.KEY_PEPPER ?? secrets.key_pepper,
    },
  };
  const close = () => {
    table.close();
    queue.close();
  };
  return { world, openLink: links.open, close };
};
