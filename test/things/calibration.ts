import { recordEvents } from "@mailproof/core/activity/record";
import type { World } from "@mailproof/core/ports/world";
import type { Verification } from "@mailproof/core/verify/result";
import { createVerdictWrites } from "@mailproof/core/verify/store-verdict";
import { createUnprobedResult } from "@mailproof/core/verify/verify";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { readAddress } from "@mailproof/mail/address-cell";
import type { BounceReport } from "@mailproof/mail/bounce-kind";
import { givenWorld } from "../app/given.ts";
import { toAddress } from "./activity.ts";

/** A world whose table is SQLite. */
export const givenSqliteWorld = (seed = 1) => {
  const ctx = givenWorld(seed);
  return { ...ctx, world: { ...ctx.world, table: createSqliteTable(":memory:", ctx.world.now) } };
};

export type Verdict = Partial<Pick<Verification, "status" | "score" | "provider">> & {
  /** The domain accepts every address. */
  readonly isCatchAll?: boolean;
};

/** A verification that has ended so. */
export const createResult = (
  { engine, now }: ReturnType<typeof givenWorld>["world"],
  email: string,
  { isCatchAll = false, ...verdict }: Verdict,
): Verification => ({
  ...createUnprobedResult(engine, email, "unknown"),
  status: "valid",
  score: 99,
  provider: "google",
  ai: {
    typoSuggestion: null,
    typoConfidence: null,
    catchAllConfidence: isCatchAll ? 0.4 : 1,
  },
  ...verdict,
  verifiedAt: now().toISOString(),
});

export const whenVerdictGiven = async (
  world: ReturnType<typeof givenWorld>["world"],
  account: string,
  email: string,
  verdict: Verdict = {},
): Promise<void> => {
  const result = createResult(world, email, verdict);
  for (const write of createVerdictWrites(world, account, readAddress(email).address, result))
    await world.table.write(write);
};

let made = 0;

type Reported = { readonly fate: "delivered" | BounceReport; readonly at?: Date };

/** Mail that was delivered, or bounced as the report says. */
export const whenMailReported = async (
  world: World,
  account: string,
  email: string,
  { fate, at = world.now() }: Reported,
): Promise<void> => {
  await recordEvents(world, { account, channel: "api" }, [
    {
      id: `mail-${made++}`,
      type: fate === "delivered" ? "delivery" : "bounce",
      address: toAddress(email),
      at,
      ...(fate !== "delivered" && { bounce: fate }),
    },
  ]);
};

export const HARD: BounceReport = { type: "hard", diagnostic: "550 5.1.1 User unknown" };
export const SOFT: BounceReport = { type: "soft", diagnostic: "452 4.2.2 Mailbox full" };
export const BLOCKED: BounceReport = { diagnostic: "550 5.7.1 Message rejected as spam" };
