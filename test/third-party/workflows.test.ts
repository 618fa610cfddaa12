import { spawnSync } from "node:child_process";
import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createFolder } from "../servers/running.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// The workflows of GitHub Actions, read by two programs that others wrote.

const WORKFLOWS = ".github/workflows";

const run = (program: string, args: readonly string[]) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (error) throw error;
  return { status, text: `${stdout}${stderr}` };
};
const actionlint = (folder: string) =>
  run(join(getToolFolder("actionlint"), "run"), globSync(`${folder}/*.yml`));
const zizmor = (folder: string) =>
  run(join(getToolFolder("zizmor"), "bin/zizmor"), [
    "--offline",
    "--no-progress",
    "--persona=auditor",
    folder,
  ]);

/** A copy in which every workflow has this instead of that. */
const plant = (from: string | RegExp, to: string): string => {
  const folder = join(createFolder(), WORKFLOWS);
  cpSync(WORKFLOWS, folder, { recursive: true });
  for (const file of globSync(`${folder}/*.yml`))
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(from, to));
  return folder;
};

describeUnless(findToolAbsence("actionlint"), "actionlint", () => {
  test("actionlint accepts the workflows and reports an unknown key", () => {
    expect(actionlint(WORKFLOWS)).toEqual({ status: 0, text: "" });
    expect(actionlint(plant(/timeout-minutes/g, "timeout-minuts")).text).toContain(
      'unexpected key "timeout-minuts"',
    );
  });
});

describeUnless(findToolAbsence("zizmor"), "zizmor", () => {
  test("zizmor accepts the workflows", () => {
    const { status, text } = zizmor(WORKFLOWS);

    expect(text).toContain("No findings to report");
    expect(status).toBe(0);
  });

  test.each(asRows`
  an action that is not pinned | ${/@[0-9a-f]{40} # v\S+/g} | @main | unpinned-uses
  more rights than needed | ${/^permissions: \{\}/gm} | permissions: write-all | permissions
  a fork's code with our rights | pull_request: | pull_request_target: | dangerous-triggers
  credentials that stay | persist-credentials: false | fetch-depth: 1 | artipacked
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is GitHub's.
  a stranger's text as a command | npx node scripts/prepare-infra.mjs | ${"echo ${{ github.event.pull_request.title }}"} | template-injection
`)("zizmor reports %s", (_what, from, to, audit) => {
    const { status, text } = zizmor(plant(from, to));

    expect(text).toContain(audit);
    expect(status).not.toBe(0);
  });
});
