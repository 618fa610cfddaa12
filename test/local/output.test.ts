import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { assertWritable } from "@mailproof/local/cli/output";
import { expect, test } from "vitest";
import { createFolder, whenRunIn } from "../servers/running.ts";

test("results never take the place of a pipe or a device, also with --force", () => {
  const pipe = join(createFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);

  const sentence = (file: string) => `${file} is a device or a pipe. Leave out --out`;
  for (const file of [pipe, "/dev/null"])
    expect(() => assertWritable(file, { force: true })).toThrow(sentence(file));
  expect(statSync(pipe).isFIFO()).toBe(true);
});

test("a backup that cannot be written names its folder", async () => {
  const folder = createFolder();
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "Acme");

  const { code, err } = await whenRunIn(folder, "admin", "backup", "--to", "/dev/null/backup");

  expect([code, err]).toEqual([
    1,
    expect.stringContaining("The backup to /dev/null/backup failed: "),
  ]);
});
