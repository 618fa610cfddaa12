import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { SETTINGS } from "../environment.ts";
import { readJsonFile } from "./atomic-file.ts";
import { isBusy } from "./error-codes.ts";

// A server writes its settings into ready.json, so that a command beside it judges the server and not its own shell.

type Variables = Readonly<Record<string, string | undefined>>;

/** Secrets are recognized by their name, so that a later secret is not printed either. */
const SECRET = /KEY|PEPPER|SECRET/;
const MASK = "********";
/** The name and password of a URL, such as that of a proxy. */
const URL_CREDENTIALS = /(?<=\/\/)[^/@,\s]*@/g;

export const isSecret = (name: string): boolean => SECRET.test(name);

export const maskSecret = (name: string, value: string): string =>
  isSecret(name) ? MASK : value.replaceAll(URL_CREDENTIALS, `${MASK}@`);

/** The settings among these variables, without their secrets. */
export const maskSettings = (variables: Variables): Readonly<Record<string, string>> =>
  Object.fromEntries(
    SETTINGS.flatMap((name) => {
      const value = variables[name];
      return value === undefined ? [] : [[name, maskSecret(name, value)]];
    }),
  );

const Ready = v.object({ base_url: v.string(), settings: v.record(v.string(), v.string()) });
export type RunningSettings = v.InferOutput<typeof Ready>;

/** Undefined when no server runs on this folder. A killed server leaves its file, but the system releases its lock. */
export const readRunningSettings = (directory: string): RunningSettings | undefined =>
  isLocked(join(directory, "lock.sqlite"))
    ? readJsonFile(join(directory, "ready.json"), Ready)
    : undefined;

const isLocked = (file: string): boolean => {
  if (!existsSync(file)) return false;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    db.exec("PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema");
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.close();
  }
};
