import { execFile, execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { createFolder, whenStarted } from "../servers/running.ts";

const ran = promisify(execFile);

/** A dozen of them, each started by npx. */
const MANY_PROCESSES_MS = 120_000;

const readme = readFileSync("README.md", "utf8");
/** What a reader pastes. */
const [, PASTED = ""] = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text);
/** What "What it looks like" shows: a line after "$ " is typed, the others are printed. */
const [, SHOWN = ""] = /## What it looks like\n\n```\n(.*?)^```$/ms.exec(readme) ?? [];

/** Two points of a refusal depend on whether its session asked for a random recipient. */
const withoutChance = (text: string): string =>
  text.replaceAll(/job_[\w-]+/g, "JOB").replaceAll(/,no,[02],/g, ",no,0 or 2,");
const EXAMPLES = SHOWN.split(/^\$ /m)
  .slice(1)
  .map((text) => text.split(/\n(.*)/s))
  .map(([command = "", printed = ""]) => ({ command, printed: withoutChance(printed) }));

const whyNot = (() => {
  try {
    execFileSync("curl", ["--version"], { stdio: "ignore" });
    return null;
  } catch {
    return "there is no curl";
  }
})();

describeUnless(whyNot, "the commands of the README", () => {
  test("the README's commands run in order and repeatedly, and print its output", {
    timeout: MANY_PROCESSES_MS,
  }, async () => {
    const { ready } = await whenStarted(createFolder());
    const folder = createFolder();
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      MAILPROOF_API: ready.base_url,
      MAILPROOF_KEY: ready.live_key,
    };
    const bash = async (script: string) => {
      const { stdout, stderr } = await ran("bash", ["-ec", script], { cwd: folder, env });
      const lines = (stderr + stdout).split(/(?<=\n)/).filter((line) => !line.startsWith("npm "));
      return withoutChance(lines.join(""));
    };

    const first = await bash(PASTED);
    const printed = [];
    for (const { command } of EXAMPLES) printed.push({ command, printed: await bash(command) });
    const again = await bash(PASTED);

    expect(EXAMPLES).toHaveLength(4);
    // verify and find print JSON where there is no terminal.
    const isAlike = ({ command }: { command: string }) =>
      !/mailproof (?:verify|find)/.test(command);
    expect(printed.filter(isAlike)).toEqual(EXAMPLES.filter(isAlike));
    for (const pasted of [first, again]) {
      expect(pasted).toContain('"status":"valid"');
      expect(pasted).toContain(EXAMPLES[1]?.printed);
      expect(pasted).not.toContain('"success":false');
    }
  });
});
