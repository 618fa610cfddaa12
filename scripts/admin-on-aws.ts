// What an operator does by hand, on a deployed stage: the first account, keys, credits, the audit. The settings come from
// the stage itself, on the standard input; the credentials and the region are the operator's own:
//
//   aws lambda get-function-configuration --function-name NAME --query Environment.Variables |
//     npx node scripts/admin-on-aws.ts accounts create --name Acme --plan pro --credits 10000
import { json } from "node:stream/consumers";
import { awsWorld } from "@mailproof/functions/world";
import { adminDefinitions, printed } from "@mailproof/local/admin";
import { command } from "@mailproof/local/command";
import { runCommand } from "@mailproof/local/run-command";

const stage = async () => {
  const settings = (await json(process.stdin)) as Record<string, string>;
  return awsWorld(undefined, { ...process.env, ...settings });
};

const commands = adminDefinitions.map((definition) =>
  command({
    ...definition,
    run: async ({ options }) => printed(await definition.run(await stage(), options)),
  }),
);

process.exitCode = await runCommand(commands, ["admin", ...process.argv.slice(2)]);
