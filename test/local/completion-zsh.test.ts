import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { endWithTest } from "../runner/eventually.ts";
import { createFolder, whenRun } from "../servers/running.ts";

// In a real zsh on a terminal: it reads the functions of bash, but not all of bash's syntax.

const findAbsence = (): string | null => {
  const absent = ["zsh", "script"].find((name) => spawnSync(name, ["--version"]).status !== 0);
  return absent === undefined ? null : `there is no ${absent}`;
};

const givenZsh = async (setUp: (file: string) => string) => {
  const folder = createFolder();
  const file = join(folder, "_mailproof");
  writeFileSync(file, (await whenRun({}, "completion", "zsh")).out);
  const child = spawn("script", ["--quiet", "--command", "zsh -f -i", "/dev/null"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", TERM: "dumb", HOME: folder },
    stdio: ["pipe", "pipe", "ignore"],
  });
  endWithTest(child);
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (shown += part));
  const whenShown = async (wanted: string) => {
    while (!stripVTControlCharacters(shown).includes(wanted))
      await new Promise((resolve) => child.stdout.once("data", resolve));
    return stripVTControlCharacters(shown);
  };
  child.stdin.write(`${setUp(file)}; print RE""ADY\n`);
  await whenShown("READY");
  return { type: (keys: string) => void child.stdin.write(keys), whenShown };
};

const COMPINIT = "autoload -Uz compinit && compinit -u -D";

describeUnless(findAbsence(), "completion in zsh", () => {
  test.each([
    ["when sourced", (file: string) => `${COMPINIT}; source ${file}`],
    ["from a folder of fpath", (file: string) => `fpath=(${join(file, "..")} $fpath); ${COMPINIT}`],
  ])("zsh completes commands and values %s", async (_, setUp) => {
    const { type, whenShown } = await givenZsh(setUp);

    type("mailproof admin accounts ren\t");
    await whenShown("mailproof admin accounts rename");
    type("\nmailproof completion z\t");

    expect(await whenShown("mailproof completion zsh")).not.toContain("modifier");
  });
});
