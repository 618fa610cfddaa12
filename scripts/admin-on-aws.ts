// What an operator does by hand, on a deployed stage: the first account, keys, credits, the audit. The settings come from
// the stage itself, on the standard input; the credentials and the region are the operator's own:
//
//   aws lambda get-function-configuration --function-name NAME --query Environment.Variables |
//     npx node scripts/admin-on-aws.ts accounts create --name Acme --plan pro --credits 10000
import { json } from "node:stream/consumers";
import { withBlobs } from "@mailproof/functions/capabilities/blobs";
import { withQueue } from "@mailproof/functions/capabilities/queue";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { readTableVersion, TABLE_VERSION } from "@mailproof/functions/table-version";
import { adminEntries } from "@mailproof/local/cli/admin";
import { definePrinted } from "@mailproof/local/cli/define-admin";
import { runCommand } from "@mailproof/local/cli/run-command";
import * as v from "valibot";

const openStage = async () => {
  const settings = (await json(process.stdin)) as Record<string, string>;
  const world = createLambdaWorld([withQueue, withBlobs], { ...process.env, ...settings });
  return { world, version: await readTableVersion(world.table) };
};

const versionCommand = definePrinted({ usage: "", options: v.strictObject({}) }, async () => {
  const { version } = await openStage();
  return { output: { table_version: version, newest_version: TABLE_VERSION } };
});

const commands = adminEntries.map(({ name, summary, load }) => ({
  name,
  summary,
  load: async () => {
    const definition = await load();
    return definePrinted(definition, async ({ options }) => {
      const { world } = await openStage();
      return definition.run(world, options);
    });
  },
}));

const VERSION = { name: "admin version", summary: "Prints the version of the table's data." };

process.exitCode = await runCommand(
  [...commands, { ...VERSION, load: async () => versionCommand }],
  ["admin", ...process.argv.slice(2)],
);
