import { DOMAINS } from "@mailproof/local/lab/domains";
import type { Said } from "./job.ts";
import { ZONE } from "./lists.ts";

/** What an answer is worth beside what is true. "unknown" is where a better engine could have told. */
export type Cell = "ok" | "false invalid" | "false valid" | "unknown";

export type Situation = {
  readonly address: string;
  /** Without the zone, for people. */
  readonly shown: string;
  readonly status: Said;
  readonly reason: string;
};

export const situations: readonly Situation[] = Object.values(DOMAINS)
  .flat()
  .flatMap(({ name, examples }) =>
    examples.map(([local, status, reason]) => ({
      address: `${local}@${name}.${ZONE}`,
      shown: `${local}@${name}`,
      status,
      reason,
    })),
  );

/**
 * The same for every engine. To say "invalid" or "valid" is wrong where it is not so, and also where nobody can
 * know. Most engines have no more words than these and "unknown": where a mailbox was accepted and only the
 * question of catch-all stays open, "valid" is right enough. What never came is no worse than "unknown".
 */
export const cellOf = ({ status, reason }: Situation, said: Said = "unknown"): Cell => {
  if (said === status) return "ok";
  if (said === "invalid") return "false invalid";
  if (said === "valid") return reason === "catch_all_unverified" ? "ok" : "false valid";
  return "unknown";
};
