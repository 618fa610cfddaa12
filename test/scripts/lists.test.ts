import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEdition } from "@mailproof/mail/lists/edition-file";
import { type PackedList, readDomains, unpack } from "@mailproof/mail/lists/pack";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, onTestFinished, test, vi } from "vitest";
import { readListsModules } from "../../packages/functions/bundle.ts";
import { createEditionFile } from "../../scripts/build/lists.ts";
import {
  createEdition,
  KEYS,
  NEW_DOMAIN,
  OTHER_KEYS,
  WITH_NEW_DOMAIN,
} from "../things/editions.ts";

const pause = async () => undefined;

const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-lists-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

test("the build's file is the lists of the tree, and the same each time", async () => {
  const file = createEditionFile(KEYS.privateKey);
  const { version, lists } = await readEdition(Buffer.from(file), KEYS.publicKey, pause);

  expect(createEditionFile(KEYS.privateKey)).toBe(file);
  expect(version).toBe(WHOLE_EDITION.version);
  for (const name of ["disposable", "broad", "free", "rareEndings"] as const) {
    const { sha256, entries } = WHOLE_EDITION.lists[name];
    expect(lists[name]).toMatchObject({ sha256, entries });
    expect(readDomains(lists[name])).toEqual(readDomains(WHOLE_EDITION.lists[name]));
  }
});

test("without a key the file is the signed one without its last line", () => {
  const unsigned = createEditionFile(undefined);

  expect(createEditionFile(KEYS.privateKey).startsWith(unsigned)).toBe(true);
});

test("a deployment carries the lists of a file that is signed, and no other", async () => {
  const folder = createFolder();
  const [good, foreign] = ["good.txt", "foreign.txt"].map((name) => join(folder, name));
  writeFileSync(good ?? "", createEdition(WITH_NEW_DOMAIN));
  writeFileSync(foreign ?? "", createEdition({ privateKey: OTHER_KEYS.privateKey }));
  vi.stubEnv("LISTS_SIGNER", KEYS.publicKey);
  onTestFinished(() => void vi.unstubAllEnvs());

  const modules = await readListsModules(good ?? "");
  const [, json = ""] =
    /^export const disposable = (.*);$/.exec(modules.get("disposable.ts") ?? "") ?? [];
  const { packed } = JSON.parse(json) as PackedList;

  expect(modules.get("edition.ts")).toBe('export const EDITION = "2026.12.1";');
  expect(
    unpack(packed)
      .get("example")
      ?.has(NEW_DOMAIN.split(".")[0] ?? ""),
  ).toBe(true);
  await expect(readListsModules(foreign ?? "")).rejects.toThrow("no valid signature");
});

test("a private key is never written into the repository", () => {
  const make = (file: string) =>
    execFileSync(process.execPath, ["scripts/new-lists-key.ts", file], { stdio: "pipe" });

  expect(() => make("dist/key.pem")).toThrow("The private key must never be in it");
});
