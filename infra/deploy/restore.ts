import { TABLE_SHAPE } from "@mailproof/functions/aws/table-shape";
import { createParameterNamer } from "../parameters.ts";
import type { Programs } from "./programs.ts";
import { readParameter } from "./steps.ts";

// Restores a stage's table of an earlier second beside the table in use, for a drill or after an accident.

export type Restore = {
  readonly stage: string;
  /** ISO 8601. Null means the latest second that AWS can restore. */
  readonly at: string | null;
};

/** A restore takes AWS minutes to hours. */
const POLL_MS = 15_000;

/** The first version of AWS's command line prints seconds since 1970, the second one ISO 8601. */
const toSecond = (at: string | number): string =>
  new Date(typeof at === "number" ? at * 1_000 : at).toISOString().replace(/\.\d+Z$/, "Z");

/** The name follows from the second, so a repeated command finds the table that a stopped run began. */
const toName = (stage: string, second: string): string =>
  `mailproof-${stage}-at-${second.replaceAll(/\D/g, "")}`;

/** Null when the table does not exist. */
const readStatus = async ({ aws }: Programs, table: string): Promise<string | null> => {
  try {
    return (await aws(`dynamodb describe-table --table-name ${table}`)).Table.TableStatus;
  } catch (error) {
    if ((error as Error).message.includes("ResourceNotFound")) return null;
    throw error;
  }
};

/** AWS restores neither of these two settings. Each call may be repeated. */
const protect = async ({ aws }: Programs, table: string): Promise<void> => {
  const of = `--table-name ${table}`;
  const enabled = "Enabled=true";
  await aws(
    `dynamodb update-time-to-live ${of} --time-to-live-specification ${enabled},AttributeName=${TABLE_SHAPE.ttl}`,
  ).catch((error: Error) => {
    if (!error.message.includes("already enabled")) throw error;
  });
  await aws(
    `dynamodb update-continuous-backups ${of} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`,
  );
  await aws(`dynamodb update-table ${of} --deletion-protection-enabled`);
};

export const restore = async ({ stage, at }: Restore, programs: Programs): Promise<number> => {
  const { aws, say, read, sleep } = programs;
  const source = await readParameter(programs, createParameterNamer("mailproof", stage)("table"));
  const { ContinuousBackupsDescription: backups } = await aws(
    `dynamodb describe-continuous-backups --table-name ${source}`,
  );
  const {
    PointInTimeRecoveryStatus: status,
    EarliestRestorableDateTime: earliest,
    LatestRestorableDateTime: latest,
  } = backups.PointInTimeRecoveryDescription;
  if (status !== "ENABLED") {
    say(`${source} cannot be restored: only a production stage keeps every second.`);
    return 1;
  }
  const second = toSecond(at ?? latest);
  const [first, last] = [toSecond(earliest), toSecond(latest)];
  // Sorted as texts, these times are in their order.
  if (second < first || second > last) {
    say(`${second} cannot be restored: AWS has ${first} to ${last}.`);
    return 1;
  }
  const table = toName(stage, second);
  if ((await readStatus(programs, table)) === null) {
    say(`Restoring ${source} as it was at ${second} to ${table}. The stage goes on with its own.`);
    await aws(
      `dynamodb restore-table-to-point-in-time --source-table-name ${source} --target-table-name ${table} --restore-date-time ${second}`,
    );
  } else say(`${table} is there from an earlier run.`);
  while ((await readStatus(programs, table)) !== "ACTIVE") await sleep(POLL_MS);
  await protect(programs, table);
  say("It is there, with expiry, recovery and deletion protection. Its money:");
  const command = `infra/deploy/admin-on-stage.ts --stage ${stage} --table ${table} audit --full`;
  say((await read(process.execPath, command.split(" "))).trim());
  for (const line of describeSwitch(stage, table)) say(line);
  return 0;
};

const describeSwitch = (stage: string, table: string): readonly string[] => [
  "",
  "To look something up, use it in any command of an operator:",
  `  npm run admin -- --stage ${stage} --table ${table} accounts list`,
  "To switch the stage to it (docs/operating.md, Restoring):",
  "  1. stop all requests at API Gateway",
  `  2. set TABLE_NAME=${table} in .env.${stage}`,
  `  3. npm run deploy -- --stage ${stage} --at-once`,
  "  4. run the audit again, and accept requests",
  "The stage's own table stays as it is. A drill ends with:",
  `  aws dynamodb update-table --table-name ${table} --no-deletion-protection-enabled`,
  `  aws dynamodb delete-table --table-name ${table}`,
];
