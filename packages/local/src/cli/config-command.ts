import * as v from "valibot";
import { DEFAULTS, SETTINGS } from "../environment.ts";
import { definePrinted } from "./define-admin.ts";

/** Each is in secrets.json of the state, or follows from what is there, unless it is set. */
const GENERATED: readonly string[] = ["KEY_PEPPER", "CURSOR_SECRET", "SEALING_KEY", "ACTIVITY_KEY"];
/** By its name, so that one that is added later is not printed either. */
const SECRET = /KEY|PEPPER|SECRET/;
const MASK = "********";
/** The name and password of a URL, such as that of a proxy. */
const URL_CREDENTIALS = /(?<=\/\/)[^/@,\s]*@/g;

/** `mailproof config show`: every setting as the next start would read it. */
export const configCommand = definePrinted(
  {
    options: v.strictObject({}),
  },
  async () => ({ output: SETTINGS.map((name) => toRow(name, process.env[name])) }),
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

const maskSecret = (name: string, value: string): string =>
  SECRET.test(name) ? MASK : value.replaceAll(URL_CREDENTIALS, `${MASK}@`);
