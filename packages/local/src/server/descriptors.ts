import { readdirSync, readFileSync } from "node:fs";
import { recordIncident } from "@mailproof/core/background/incidents";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { SESSIONS_MAX } from "@mailproof/core/smtp-pool/fairness";
import { countOwnErrors } from "@mailproof/net/local-resource-errors";

/**
 * How many descriptors this process may still open. Node has raised the limit to the allowed maximum. A system that
 * reports no limit counts as unlimited.
 */
export const countFreeDescriptors = (): number => {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const limit = Number(/^Max open files\s+(\S+)/m.exec(limits)?.[1]);
    const open = readdirSync("/proc/self/fd").length;
    return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit - open;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};

/** Descriptors for reading and writing blobs, database logs, DNS over TCP and a backup. */
const RESERVE = 64;
const CONNECTIONS_MIN = 8;
const SESSIONS_MIN = 4;

export type DescriptorShares = {
  /** Connections of callers. A connection above the limit is closed before it is read. */
  readonly connections: number;
  /** Sessions with mail servers. A session waits for a free one. */
  readonly sessions: number;
};

/**
 * The shares of the descriptors. The reserve is for files and DNS, which all work needs to finish. Callers get half of
 * the rest, mail servers three eighths; one eighth is for webhooks, exports and DNS over TCP.
 */
export const shareDescriptors = (free: number): DescriptorShares => {
  const available = free - Math.min(RESERVE, free * (3 / 4));
  return {
    connections: Math.max(CONNECTIONS_MIN, Math.floor(available / 2)),
    sessions: Math.min(SESSIONS_MAX, Math.max(SESSIONS_MIN, Math.floor((available * 3) / 8))),
  };
};

/** Records in the gauges how often this process has lacked descriptors, memory or ports since its start. */
export const createOwnErrorWatch = (count: () => number = countOwnErrors): Schedule => {
  let seen = 0;
  return {
    name: "watch own errors",
    everySeconds: 5,
    async run(world) {
      const total = count();
      if (total === seen) return;
      world.log("resources_exhausted", { times: total - seen });
      seen = total;
      await recordIncident(world, "resources_exhausted", total);
    },
  };
};
