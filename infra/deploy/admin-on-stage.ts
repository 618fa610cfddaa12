// npm run admin -- --stage production accounts create --name Acme --plan pro --credits 10000
//
// Runs an operator's command on a deployed stage: accounts, keys, credits, the audit. AWS's command line reads the stage's
// settings and the operator's own credentials; no file keeps them.
import { execFileSync } from "node:child_process";
import type { World } from "@mailproof/core/ports/world";
import { withBlobs } from "@mailproof/functions/capabilities/blobs";
import { withQueue } from "@mailproof/functions/capabilities/queue";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { readTableVersion, TABLE_VERSION } from "@mailproof/functions/table-version";
import { adminEntries, withServiceUrl } from "@mailproof/local/cli/admin";
import { definePrinted } from "@mailproof/local/cli/define-admin";
import { runCommand } from "@mailproof/local/cli/run-command";
import * as v from "valibot";
import { createParameterNamer } from "../parameters.ts";

const [option, stage = "", ...rest] = process.argv.slice(2);
if (option !== "--stage" || !/^[\w-]+$/.test(stage)) {
  process.stderr.write("Usage: npm run admin -- --stage STAGE COMMAND, such as accounts list.\n");
  process.exit(2);
}
/** Another table than the current table, such as a restored table. */
const [table, args] = rest[0] === "--table" ? [rest[1], rest.slice(2)] : [undefined, rest];

const aws = (command: string): any =>
  JSON.parse(execFileSync("aws", `${command} --output json`.split(" "), { encoding: "utf8" }));

const toParameterName = createParameterNamer("mailproof", stage);

/** Commands about people print links to the stage's dashboard. */
const withStageUrl = <W extends World>(world: W): W => {
  const { Parameter: parameter } = aws(`ssm get-parameter --name ${toParameterName("url")}`);
  return withServiceUrl(world, parameter.Value);
};

/** Reads the settings of the Lambda for agents' tools: a tool may be any operation, so this Lambda has each setting. */
const readSettings = (): Record<string, string> => {
  const { Parameter: parameter } = aws(
    `ssm get-parameter --name ${toParameterName("lambda/HttpMcp")}`,
  );
  const { Environment: environment } = aws(
    `lambda get-function-configuration --function-name ${parameter.Value}`,
  );
  return environment.Variables;
};

/** Credentials in the environment win, as they do for AWS's command line. */
const readCredentials = (): Record<string, string> => {
  if (process.env["AWS_ACCESS_KEY_ID"]) return {};
  const found = aws("configure export-credentials --format process");
  return {
    AWS_ACCESS_KEY_ID: found.AccessKeyId,
    AWS_SECRET_ACCESS_KEY: found.SecretAccessKey,
    ...(found.SessionToken && { AWS_SESSION_TOKEN: found.SessionToken }),
  };
};

const openStage = async () => {
  const settings = { ...readSettings(), ...(table !== undefined && { TABLE_NAME: table }) };
  const environment = { ...process.env, ...readCredentials(), ...settings };
  const world = createLambdaWorld([withQueue, withBlobs], environment);
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
      return definition.run(
        name.startsWith("admin people ") ? withStageUrl(world) : world,
        options,
      );
    });
  },
}));

const VERSION = { name: "admin version", summary: "Prints the version of the table's data." };

process.exitCode = await runCommand(
  [...commands, { ...VERSION, load: async () => versionCommand }],
  ["admin", ...args],
);
