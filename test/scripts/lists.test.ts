import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIST_NAMES, readEdition } from "@mailproof/mail/lists/edition-file";
import { type PackedList, readDomains, unpack } from "@mailproof/mail/lists/pack";
import { LISTS_PUBLIC_KEY } from "@mailproof/mail/lists/public-key";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { build } from "esbuild";
import { expect, onTestFinished, test, vi } from "vitest";
import { BUNDLE, readListsModules } from "../../packages/functions/bundle.ts";
import { writeEdition } from "../../scripts/build/lists.ts";
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

test("the build writes the tree's lists with the release key's signature", async () => {
  const folder = createFolder();
  const name = await writeEdition(folder);
  const file = readFileSync(join(folder, name));
  const { version, lists } = await readEdition(file, LISTS_PUBLIC_KEY, pause);

  expect(name).toBe(`mailproof-lists-${WHOLE_EDITION.version}.txt`);
  expect(version).toBe(WHOLE_EDITION.version);
  for (const list of LIST_NAMES) {
    const { sha256, entries } = WHOLE_EDITION.lists[list];
    expect(lists[list]).toMatchObject({ sha256, entries });
    expect(readDomains(lists[list])).toEqual(readDomains(WHOLE_EDITION.lists[list]));
  }
});

test("the build refuses to sign the lists with another key than the release's", () => {
  const file = join(createFolder(), "key.pem");
  writeFileSync(file, KEYS.privateKey);

  expect(() =>
    execFileSync(process.execPath, ["scripts/lists/sign.ts", file], { stdio: "pipe" }),
  ).toThrow("is not the private key of the public key in the source");
});

test("a deployment accepts lists from a signed file and refuses others", async () => {
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

test("a deployment with a newer edition keeps the operator's changes and each domain's origin", async () => {
  const folder = createFolder();
  const [edition, changes, bundle] = ["new.txt", "lists.txt", "bundle.mjs"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  writeFileSync(edition, createEdition(WITH_NEW_DOMAIN));
  writeFileSync(changes, "-disposable yopmail.com\n");
  vi.stubEnv("LISTS_SIGNER", KEYS.publicKey);
  vi.stubEnv("LISTS_FILE", edition);
  vi.stubEnv("LIST_CHANGES_FILE", changes);
  onTestFinished(() => void vi.unstubAllEnvs());
  const contents = `export { withLists } from "./packages/functions/src/capabilities/lists.ts";
export { lookUpDomain } from "./packages/mail/src/lists/look-up.ts";`;

  await build({ ...BUNDLE, stdin: { contents, resolveDir: process.cwd() }, outfile: bundle });
  const { withLists, lookUpDomain } = await import(bundle);
  const { lists } = withLists({ now: () => new Date() }).engine;
  const look = (domain: string) => lookUpDomain(lists, domain);

  expect(lists.edition).toBe("2026.12.1");
  expect(look("yopmail.com")).toMatchObject({ as: "not_listed", isAllowed: true });
  expect(look(NEW_DOMAIN)).toMatchObject({ as: "disposable", isAllowed: false });
  expect(look("muhaos.com").origin).toEqual({ sources: ["fakefilter"], since: "2026-02-09" });
});

test("the key script refuses to write a private key into the repository", () => {
  const make = (file: string) =>
    execFileSync(process.execPath, ["scripts/lists/sign.ts", "--new-key", file], { stdio: "pipe" });

  expect(() => make("dist/key.pem")).toThrow("The private key must never be in it");
});
