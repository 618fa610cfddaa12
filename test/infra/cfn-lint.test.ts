import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { createOperationsApp } from "../../infra/cdk/operations.ts";
import { readSettings } from "../../infra/settings.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { findToolAbsence, getToolFolder } from "../third-party/tools.ts";

// AWS's schemas of CloudFormation, and the rules of cfn-lint, over what CDK writes. cdk-nag is asked by
// test/infra/operations.test.ts.

const folder = mkdtempSync(join(tmpdir(), "mailproof-cfn-lint-"));
afterAll(() => rmSync(folder, { recursive: true }));

const RUN = "import sys; from cfnlint.runner import main; sys.exit(main())";

const lint = async (
  template: string,
): Promise<readonly { readonly Rule: { readonly Id: string } }[]> => {
  const python = join(getToolFolder("python"), "bin/python");
  const args = ["-c", RUN, "--format", "json", "--regions", "eu-west-1", "--", template];
  const { stdout } = await promisify(execFile)(python, args).catch((failed) => {
    // It ends with another code when it has found something.
    if (typeof failed.stdout !== "string" || failed.stdout === "") throw failed;
    return failed as { readonly stdout: string };
  });
  return JSON.parse(stdout);
};

describeUnless(findToolAbsence("python"), "cfn-lint", () => {
  const settings = readSettings("production", {
    AWS_REGION: "eu-west-1",
    CALL_EMAIL: "ops@example.com",
  });
  createOperationsApp({ app: "mailproof", stage: "production", settings }, folder).synth();
  const [template = ""] = globSync(`${folder}/*.template.json`);

  test("finds nothing wrong in the operations stack", async () => {
    expect(await lint(template)).toEqual([]);
  });

  test("would find a property that AWS does not know", async () => {
    const written = readFileSync(template, "utf8").replace(
      '"EvaluationPeriods"',
      '"EvaluationPeriod"',
    );
    const broken = join(folder, "broken.json");
    writeFileSync(broken, written);

    expect((await lint(broken)).map(({ Rule }) => Rule.Id)).toContain("E3002");
  });
});
