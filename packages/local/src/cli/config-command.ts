import * as v from "valibot";
import { DEFAULTS, SETTINGS } from "../environment.ts";
import { maskSecret } from "../storage/running-settings.ts";
import { definePrinted } from "./define-admin.ts";
import { findJudged } from "./judged-settings.ts";

/** The server generates each of these unless it is set: secrets.json of the state has it, or it follows from the state. */
const GENERATED: readonly string[] = ["KEY_PEPPER", "CURSOR_SECRET", "SEALING_KEY", "ACTIVITY_KEY"];
/** `mailproof config show`: every setting of the running server, or else as the next start would read it. */
export const configCommand = definePrinted(
  {
    options: v.strictObject({}),
  },
  async ({ environment: { MAILPROOF_DIR } }) => {
    const judged = findJudged(MAILPROOF_DIR, process.env);
    return { output: SETTINGS.map((name) => toRow(name, judged[name])) };
  },
);

const toRow = (name: string, value: string | undefined) => ({
  name,
  value: value === undefined ? (DEFAULTS[name] ?? null) : maskSecret(name, value),
  default: DEFAULTS[name] ?? null,
  source: findSource(name, value),
});

const findSource = (name: string, value: string | undefined): string => {
  if (value !== undefined) return "environment";
  if (GENERATED.includes(name)) return "generated";
  return DEFAULTS[name] === undefined ? "unset" : "default";
};
