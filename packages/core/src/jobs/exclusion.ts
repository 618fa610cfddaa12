import { type FaultName, faultOf } from "../mail/syntax.ts";
import { ROW_TOO_LONG, SEVERAL_ADDRESSES } from "./address-cell.ts";

/** Why a row of a list is not verified. */
export type Exclusion = {
  readonly kind: "duplicate" | "skipped";
  /** The row of the list with the same address. */
  readonly duplicateOf: number | null;
  /** What is wrong with the e-mail cell: a code for programs, and a sentence. */
  readonly reason: string | null;
  readonly message: string | null;
};

/** As it is stored with the row: the number of the row that it repeats, or the code. */
export const readExclusion = (why: number | string): Exclusion =>
  typeof why === "number"
    ? { kind: "duplicate", duplicateOf: why, reason: null, message: null }
    : { kind: "skipped", duplicateOf: null, reason: why, message: messageFor(why) };

const OF_LISTS = [SEVERAL_ADDRESSES, ROW_TOO_LONG];

const messageFor = (code: string): string =>
  (OF_LISTS.find(({ fault }) => fault === code) ?? faultOf(code as FaultName)).message;
