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
import { synthesisePipeline } from "./synthesise-pipeline.ts";

// AWS's schemas of CloudFormation, and the rules of cfn-lint, over what CDK writes. cdk-nag is asked by
// each synthesis.

const folder = mkdtempSync(join(tmpdir(), "mailproof-cfn-lint-"));
afterAll(() => rmSync(folder, { recursive: true }));

const RUN = "import sys; from cfnlint.runner import main; sys.exit(main())";

/** I3510: an action of IAM is allowed on what it can be allowed on. That there is such an action is asked anyway. */
const lint = async (
  template: string,
): Promise<readonly { readonly Rule: { readonly Id: string } }[]> => {
  const python = join(getToolFolder("python"), "bin/python");
  const args = ["-c", RUN, "--format", "json", "--regions", "eu-west-1"];
  args.push("--include-checks", "I3510", "--", template);
  const { stdout } = await promisify(execFile)(python, args).catch((failed) => {
    // It ends with another code when it has found something.
    if (typeof failed.stdout !== "string" || failed.stdout === "") throw failed;
    return failed as { readonly stdout: string };
  });
  return JSON.parse(stdout);
};

const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

describeUnless(findToolAbsence("python"), "cfn-lint", () => {
  const settings = readSettings("production", {
    AWS_REGION: "eu-west-1",
    CALL_EMAIL: "ops@example.com",
  });
  createOperationsApp(
    { app: "mailproof", stage: "production", settings, quota: 1_000 },
    folder,
  ).synth();
  const [template = ""] = globSync(`${folder}/*.template.json`);
  const pipeline = JSON.stringify(synthesisePipeline());

  test("cfn-lint accepts the operations stack", async () => {
    expect(await lint(template)).toEqual([]);
  });

  test("cfn-lint reports a property that AWS does not know", async () => {
    const written = readFileSync(template, "utf8");
    const broken = write(
      "broken.json",
      written.replace('"EvaluationPeriods"', '"EvaluationPeriod"'),
    );

    expect((await lint(broken)).map(({ Rule }) => Rule.Id)).toContain("E3002");
  });

  test("cfn-lint accepts the stack for deployments from GitHub", async () => {
    expect(await lint(write("pipeline.json", pipeline))).toEqual([]);
  });

  test.each([
    ["an unknown action", "lambda:CreateFunction", "lambda:MakeFunction", "W3037"],
    ["an action on a wrong resource", "sqs:CreateQueue", "s3:CreateBucket", "I3510"],
  ])("cfn-lint reports %s", async (_what, from, to, rule) => {
    const broken = write("broken.json", pipeline.replace(from, to));

    expect((await lint(broken)).map(({ Rule }) => Rule.Id)).toContain(rule);
  });
});
