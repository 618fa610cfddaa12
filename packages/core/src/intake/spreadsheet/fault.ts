import type { ZipFault } from "../../lib/zip.ts";

export class SpreadsheetFault extends Error {}

export const createDamagedFault = (what: string): SpreadsheetFault =>
  new SpreadsheetFault(
    `the spreadsheet is damaged (${what}). Open it in a spreadsheet program and save it again, or save it as CSV`,
  );

export const createTooLargeFault = (what: string): SpreadsheetFault =>
  new SpreadsheetFault(`the spreadsheet is too large (${what}). Save it as CSV, or split it`);

export const fromZipFault = ({ kind, message }: ZipFault): SpreadsheetFault => {
  if (kind === "too_large" || kind === "over_limit") return createTooLargeFault(message);
  if (kind === "damaged") return createDamagedFault(message);
  return new SpreadsheetFault("the spreadsheet is encrypted. Save it without a password");
};
