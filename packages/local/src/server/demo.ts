import { join } from "node:path";
import { findAccount, openAccount } from "@mailproof/core/accounts/accounts";
import { createKey, findKey, listKeys, revokeKey } from "@mailproof/core/accounts/api-keys";
import { toKeyHint } from "@mailproof/core/accounts/key-format";
import { credits } from "@mailproof/core/money/credits";
import type { KeyMode } from "@mailproof/core/money/payer";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { readJsonFile, writeFileAtomic } from "../storage/atomic-file.ts";

const Stored = v.object({ account_id: v.string(), live_key: v.string(), test_key: v.string() });
type Stored = v.InferOutput<typeof Stored>;

/** Revoked keys are left out. */
export type DemoAccount = Pick<Stored, "account_id"> & Partial<Stored>;

/** Enough credits to try everything, including a file of 500,000 addresses. */
const DEMO_CREDITS = 1_000_000;

/**
 * The demo account of a new folder. Its keys are stored in clear text, on this machine only. The account is created once
 * per folder: an operator who revokes its keys does not want it back.
 */
export const ensureDemoAccount = async (directory: string, world: World): Promise<DemoAccount> => {
  const file = join(directory, "demo.json");
  const stored = readJsonFile(file, Stored);
  if (!stored || !(await findAccount(world.table, stored.account_id))) {
    const opened = await createDemoAccount(world);
    writeFileAtomic(file, opened);
    return opened;
  }
  const { account_id } = stored;
  const live_key = await ensureKey(world, account_id, "live", stored.live_key);
  const test_key = await ensureKey(world, account_id, "test", stored.test_key);
  writeFileAtomic(file, {
    ...stored,
    ...(live_key && { live_key }),
    ...(test_key && { test_key }),
  });
  return { account_id, ...(live_key && { live_key }), ...(test_key && { test_key }) };
};

const createDemoAccount = async (world: World): Promise<Stored> => {
  const opening = credits(DEMO_CREDITS);
  const opened = await openAccount(world, { name: "Demo", plan: "scale", opening });
  return { account_id: opened.account, live_key: opened.liveKey, test_key: opened.testKey };
};

/**
 * The stored key; a new key if another pepper made it invalid; undefined if it was revoked. The account's list of keys
 * tells the two apart: it has no revoked key, but it has keys of another pepper.
 */
const ensureKey = async (
  world: World,
  account: string,
  mode: KeyMode,
  secret: string,
): Promise<string | undefined> => {
  if (await findKey(world, secret)) return secret;
  const listed = await listKeys(world.table, account);
  const outdated = listed.find((key) => key.mode === mode && key.hint === toKeyHint(secret));
  if (!outdated) return undefined;
  await revokeKey(world.table, outdated);
  const name = `First ${mode} key`;
  return (await createKey(world, { account, name, mode, scopes: null })).secret;
};
