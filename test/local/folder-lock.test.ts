import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { lockFolder } from "@mailproof/local/storage/folder-lock";
import { expect, onTestFinished, test } from "vitest";
import { createFolder } from "../servers/running.ts";

const FROM_OUTSIDE = `
  const { DatabaseSync } = require("node:sqlite");
  new DatabaseSync(process.argv[1]).exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
`;

test("a folder stays locked to others when its own server tries it once more", () => {
  const folder = createFolder();
  const lock = lockFolder(folder);
  onTestFinished(lock.release);
  const file = join(folder, "lock.sqlite");

  expect(() => lockFolder(folder)).toThrow("Another Mailproof uses");

  const { status, stderr } = spawnSync(process.execPath, ["-e", FROM_OUTSIDE, file]);
  expect(stderr.toString()).toContain("database is locked");
  expect(status).toBe(1);
});
