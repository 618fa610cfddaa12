import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SelfTest } from "@mailproof/core/egress/egress-self-test";
import { UsageError } from "./define-command.ts";

/** AWS's command line repeats a call that takes longer than 200 seconds, and the prober may take 150 seconds. */
const READ_SECONDS = 200;

/**
 * Runs the test in the prober of a stage, because the exits admit only the stage. AWS's command line has the operator's credentials and
 * region.
 */
export const runStageSelfTest = async (
  stage: string,
  domains: readonly string[],
): Promise<SelfTest> => {
  const name = `/mailproof/${stage}/lambda/Prober`;
  const prober = aws("ssm", "get-parameter", "--name", name, "--query", "Parameter.Value");
  const folder = mkdtempSync(join(tmpdir(), "mailproof-egress-"));
  try {
    const [question, answer] = [join(folder, "question"), join(folder, "answer")];
    writeFileSync(question, JSON.stringify({ egressTest: { domains } }));
    const asked = ["--function-name", prober, "--payload", `fileb://${question}`];
    const options = ["--cli-read-timeout", String(READ_SECONDS), "--query", "FunctionError"];
    const failed = aws("lambda", "invoke", ...asked, ...options, answer);
    if (failed !== "None")
      throw new UsageError(`${prober} failed: ${readFileSync(answer, "utf8").slice(0, 300)}`);
    return JSON.parse(readFileSync(answer, "utf8")) as SelfTest;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const aws = (...args: readonly string[]): string => {
  try {
    return execFileSync("aws", [...args, "--output", "text"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  } catch (error) {
    const { code, stderr } = error as { readonly code?: string; readonly stderr?: string };
    throw new UsageError(
      code === "ENOENT"
        ? "This needs AWS's command line (aws), with your credentials and region."
        : `aws ${args.slice(0, 2).join(" ")}: ${stderr?.trim()}`,
    );
  }
};
