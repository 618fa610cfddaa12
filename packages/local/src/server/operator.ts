import { createHash, timingSafeEqual } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Answerer, UnroutedRequest } from "@mailproof/api/http/answerers";
import { createMethodFailure } from "@mailproof/api/http/http-failure";
import { invalidField, isObject } from "@mailproof/api/http/parse";
import { answer, asFailure, type HttpRequest, refuse } from "@mailproof/api/http/respond";
import { storeReach } from "@mailproof/core/egress/reach";
import { Failure } from "@mailproof/core/lib/failure";
import type { Json } from "@mailproof/core/ports/table";
import * as v from "valibot";
import type { LocalWorld } from "../app.ts";
import { adminEntries, machineEntries, withServiceUrl } from "../cli/admin.ts";
import { type CommandDefinition, UsageError } from "../cli/define-command.ts";
import type { Environment } from "../environment.ts";
import { toCopyName } from "../storage/upgrade-copies.ts";

// POST /v1/operator/accounts.list is `mailproof admin accounts list`: the same function, the same options, the same JSON
// (docs/design/running.md). Without OPERATOR_KEY, and for any other key, there is no such route.

const OPERATOR_PATH = "/v1/operator/";
const BODY_BYTES_MAX = 10_000;

/** A folder inside the state's folder: a key that a browser holds must not choose a path. */
const BACKUPS = "backups";
const BACKUPS_MAX = 10;

export type AnswerOperator = Answerer<UnroutedRequest & Pick<HttpRequest, "body">, string>;

/** Undefined when the setting OPERATOR_KEY is empty. */
export const createOperatorRoutes = (
  world: LocalWorld,
  environment: Environment,
): AnswerOperator | undefined => {
  const { OPERATOR_KEY: key } = environment;
  if (key === undefined) return undefined;
  return async ({ id, baseUrl, method, rawPath, headers, body }) => {
    if (!rawPath.startsWith(OPERATOR_PATH) || !isSame(headers["x-api-key"] ?? "", key))
      return undefined;
    try {
      if (method !== "POST") throw createMethodFailure(method, "POST");
      const name = rawPath.slice(OPERATOR_PATH.length);
      const linked = withServiceUrl(world, baseUrl);
      const command = await loadCommand(linked, environment, `admin ${name.replaceAll(".", " ")}`);
      if (!command) throw new Failure("NOT_FOUND", "nothing_charged", `No such command: ${name}.`);
      const options = readOptions(command, (await body(BODY_BYTES_MAX)) ?? {});
      const output = await command.run(options);
      world.log("operator_command", { requestId: id, command: name });
      return answer(id, 200, {}, JSON.stringify({ success: true, data: output }));
    } catch (error) {
      return refuse(world, { id, baseUrl }, toFailure(error));
    }
  };
};

/** Compares in the same time for every key. */
const isSame = (sent: string, key: string): boolean => timingSafeEqual(hash(sent), hash(key));

const hash = (text: string): Buffer => createHash("sha256").update(text).digest();

type OperatorCommand = {
  readonly options: CommandDefinition["options"];
  readonly run: (options: never) => Promise<Json>;
};

const loadCommand = async (
  world: LocalWorld,
  environment: Environment,
  name: string,
): Promise<OperatorCommand | undefined> => {
  if (name === "admin backup") {
    const { runBackup } = await import("../cli/backup-command.ts");
    const folder = join(environment.MAILPROOF_DIR, BACKUPS);
    const to = join(folder, toCopyName(world.now()));
    const run = async () => {
      assertFewBackups(folder);
      return (await runBackup(environment, { to })).output;
    };
    return { options: v.strictObject({}), run };
  }
  if (name === "admin egress test") {
    const { selfTestOptions } = await import("../cli/egress-command.ts");
    const { runSelfTest, toSelfTestOutput } = await import("../cli/egress-self-test.ts");
    const run = async ({ domains }: v.InferOutput<typeof selfTestOptions>): Promise<Json> => {
      const result = await runSelfTest(environment, domains);
      await storeReach(world, result.reach);
      return toSelfTestOutput(result);
    };
    return { options: selfTestOptions, run };
  }
  const entry = [...adminEntries, ...machineEntries].find((one) => one.name === name);
  const definition = await entry?.load();
  return (
    definition && {
      options: definition.options,
      run: async (options) => (await definition.run(world, options, environment)).output,
    }
  );
};

/** Limits the backups, since a key in a browser must not fill the disk. Unfinished backups count, because they take as much space. */
const assertFewBackups = (folder: string): void => {
  const made = existsSync(folder) ? readdirSync(folder).length : 0;
  if (made >= BACKUPS_MAX)
    throw new UsageError(
      `There are ${made} backups in ${folder}. Move them to another disk, or delete those that you do not need.`,
    );
};

/** Reads options as the command line does: texts, and true for a flag. */
const readOptions = ({ options }: OperatorCommand, sent: unknown): never => {
  if (!isObject(sent)) throw invalidField("body", "must be an object of options");
  const read = v.safeParse(options, sent);
  if (read.success) return read.output as never;
  const [issue] = read.issues;
  const isMissing = issue.received === "undefined";
  throw invalidField(v.getDotPath(issue) ?? "body", isMissing ? "is required" : issue.message);
};

const toFailure = (error: unknown): Failure =>
  error instanceof UsageError
    ? new Failure("INVALID_REQUEST", "nothing_charged", error.message)
    : asFailure(error, "nothing_charged");
