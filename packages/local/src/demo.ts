import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";

const Demo = v.object({ account_id: v.string(), live_key: v.string(), test_key: v.string() });
export type Demo = v.InferOutput<typeof Demo>;

/** Enough to try everything, a file of 500,000 addresses included. */
const DEMO_CREDITS = 1_000_000;

/** The account a newcomer starts with. Its keys are kept in the open, on this machine and nowhere else. */
export const demoAccountIn = async (directory: string, world: World): Promise<Demo> => {
  const file = join(directory, "demo.json");
  if (existsSync(file)) return v.parse(Demo, JSON.parse(readFileSync(file, "utf8")));
  const opened = await openAccount(world, {
    name: "Demo",
    plan: "scale",
    opening: credits(DEMO_CREDITS),
  });
  const demo = {
    account_id: opened.account,
    live_key: opened.liveKey,
    test_key: opened.testKey,
  };
  writeFileSync(file, JSON.stringify(demo), { mode: 0o600 });
  return demo;
};
