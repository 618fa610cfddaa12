import { SEVERAL_ADDRESSES } from "@mailproof/mail/address-cell";
import { createFault, type FaultName } from "@mailproof/mail/syntax";

export type Exclusion = {
  readonly kind: "duplicate" | "skipped";
  readonly duplicateOf: number | null;
  readonly reason: string | null;
  readonly message: string | null;
};

/** `why` is stored with the row: the number of the row that it repeats, or the code of the fault. */
export const toExclusion = (why: number | string): Exclusion =>
  typeof why === "number"
    ? { kind: "duplicate", duplicateOf: why, reason: null, message: null }
    : { kind: "skipped", duplicateOf: null, reason: why, message: findMessage(why) };

/** For a row whose cells the reader dropped (csv-reader.ts). */
export const ROW_TOO_LONG = {
  fault: "row_too_long",
  message: "The row is longer than 524,288 bytes, or has more than 16,384 cells.",
} as const;

/** For a row that is left out on request (vendors.ts). */
export const SETTLED_ELSEWHERE = {
  fault: "settled_elsewhere",
  message: "The verdict of another service settles the address, so the row was left out.",
} as const;

const LIST_FAULTS = [SEVERAL_ADDRESSES, ROW_TOO_LONG, SETTLED_ELSEWHERE];

const findMessage = (code: string): string =>
  (LIST_FAULTS.find(({ fault }) => fault === code) ?? createFault(code as FaultName)).message;
