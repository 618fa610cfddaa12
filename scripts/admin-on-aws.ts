// What an operator does by hand, on a deployed stage: the first account, keys, credits, the audit. The settings come from
// the stage itself, on the standard input; the credentials and the region are the operator's own:
//
//   aws lambda get-function-configuration --function-name NAME --query Environment.Variables |
//     npx node scripts/admin-on-aws.ts accounts create --name Acme --plan pro --credits 10000
import { json } from "node:stream/consumers";
import { withBlobs } from "@mailproof/functions/capabilities/blobs";
import { withQueue } from "@mailproof/functions/capabilities/queue";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { adminDefinitions, printResult } from "@mailproof/local/cli/admin";
import { defineCommand } from "@mailproof/local/cli/define-command";
import { runCommand } from "@mailproof/local/cli/run-command";

const openStage = async () => {
  const settings = (await json(process.stdin)) as Record<string, string>;
  return createLambdaWorld([withQueue, withBlobs], { ...process.env, ...settings });
};

const commands = adminDefinitions.map((definition) =>
  defineCommand({
    ...definition,
    run: async ({ options }) => printResult(await definition.run(await openStage(), options)),
  }),
);

process.exitCode = await runCommand(commands, ["admin", ...process.argv.slice(2)]);
