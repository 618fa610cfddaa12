import { join } from "node:path";
import { findKey } from "@mailproof/core/access/keys";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";
import { readWhole, writeWhole } from "./whole-file.ts";

const Demo = v.object({ account_id: v.string(), live_key: v.string(), test_key: v.string() });
export type Demo = v.InferOutput<typeof Demo>;

/** Enough to try everything, a file of 500,000 addresses included. */
const DEMO_CREDITS = 1_000_000;

/**
 * The account a newcomer starts with. Its keys are kept in the open, on this machine and nowhere else. Keys that
 * open nothing any more (they were revoked, or the pepper is another one) are of no use: then there is a new one.
 */
export const demoAccountIn = async (directory: string, world: World): Promise<Demo> => {
  const file = join(directory, "demo.json");
  const kept = readWhole(file, Demo);
  if (kept && (await findKey(world, kept.live_key)) && (await findKey(world, kept.test_key)))
    return kept;
  const opening = credits(DEMO_CREDITS);
  const { account, liveKey, testKey } = await openAccount(world, {
    name: "Demo",
    plan: "scale",
    opening,
  });
  const demo = { account_id: account, live_key: liveKey, test_key: testKey };
  writeWhole(file, demo);
  return demo;
};
