import { gzipSync } from "node:zlib";
import { MODULE, SCRIPT, SCRIPT_INTEGRITY } from "@mailproof/guard/built";
import { VERSION } from "@mailproof/guard/version";
import { expect, test } from "vitest";
import { buildGuard } from "../../scripts/made/guard.ts";

test("the served script equals a build of the source", async () => {
  const served = { script: SCRIPT, module: MODULE, integrity: SCRIPT_INTEGRITY };

  expect(served, "run: npx node scripts/write.ts guard && npm run fix").toEqual(await buildGuard());
});

/** The hash of each version, which pages name. That of a released version never changes. */
const HASHES: Readonly<Record<string, string>> = {
  "1.0.0": "sha384-uUpFeq+0gVmEx2pcSaZPfvXDlNNJEXgO/SUsHR5QK4Qc2J221kO9r7Txx1UaxFh4",
};

test("a changed script gets another version", () => {
  expect(SCRIPT_INTEGRITY, "raise VERSION, and add its hash here").toBe(HASHES[VERSION]);
});

test.each([
  ["script", SCRIPT],
  ["module", MODULE],
])("the %s takes at most 5 KB when compressed", (_name, text) => {
  expect(gzipSync(text).length).toBeLessThan(5_000);
});

test("the guard uses no cookie, no storage, no style and no code made of text", () => {
  expect(SCRIPT).not.toMatch(
    /cookie|Storage|indexedDB|innerHTML|\beval|Function\(|\.style|document\.write/,
  );
});
