import { DOMAINS } from "@mailproof/lab/domains";
import type { BenchVerdict } from "./job.ts";
import { ZONE } from "./lists.ts";

/** What an answer is worth beside what is true. "unknown" is where a better engine could have known. */
export type Cell = "ok" | "false invalid" | "false valid" | "unknown";

export type Situation = {
  readonly address: string;
  /** Without the zone, for people. */
  readonly label: string;
  readonly status: BenchVerdict;
  readonly reason: string;
};

export const situations: readonly Situation[] = Object.values(DOMAINS)
  .flat()
  .flatMap(({ name, examples }) =>
    examples.map(([local, status, reason]) => ({
      address: `${local}@${name}.${ZONE}`,
      label: `${local}@${name}`,
      status,
      reason,
    })),
  );

/**
 * The same for every engine. To say "invalid" or "valid" is wrong where it is not so, and also where that cannot
 * be known. Most engines have no more words than these and "unknown": where a mailbox was accepted and only the
 * question of catch-all stays open, "valid" is right enough. A missing answer is no worse than "unknown".
 */
export const toCell = ({ status, reason }: Situation, verdict: BenchVerdict = "unknown"): Cell => {
  if (verdict === status) return "ok";
  if (verdict === "invalid") return "false invalid";
  if (verdict === "valid") return reason === "catch_all_unverified" ? "ok" : "false valid";
  return "unknown";
};
