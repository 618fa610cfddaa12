import { type Fields, listPublicFields, type PublicOf } from "../verify/fields.ts";
import { RESULT_FIELDS, type Verification } from "../verify/result.ts";
import { toSendAdvice } from "../verify/send-advice.ts";

type Values = Readonly<Record<string, unknown>>;

/** The columns that the command and the export add to a list. Their names are the API's, flattened. */
type ResultColumn = {
  readonly name: string;
  readonly keys: readonly string[];
  readonly publicKeys: readonly string[];
};

const listColumns = (fields: Fields): readonly ResultColumn[] =>
  listPublicFields(fields).flatMap(({ key, name, column, fields: inner }) => {
    if (column) return [{ name, keys: [key], publicKeys: [name] }];
    return listColumns(inner ?? {}).map(({ keys, publicKeys, ...labels }) => ({
      ...labels,
      keys: [key, ...keys],
      publicKeys: [name, ...publicKeys],
    }));
  });

/** The advice whether to send mail is not a field of a result: it follows from the status, and stands beside it in a file. */
const SEND = "send";

const RESULT_COLUMNS = listColumns(RESULT_FIELDS).flatMap((column) =>
  column.name === "status" ? [column, { name: SEND, keys: [SEND], publicKeys: [SEND] }] : [column],
);
const COLUMN_NAMES = RESULT_COLUMNS.map(({ name }) => name);

/** Names our columns. A name that the list already has, in any case, gets a suffix: many readers use only the last of two equal names. */
export const listResultColumns = (
  columns: readonly string[],
  before: readonly string[] = [],
): readonly string[] => {
  const used = new Set(columns.map(normalize));
  return [...before, ...COLUMN_NAMES].map((name) => {
    let candidate = name;
    while (used.has(candidate)) candidate = `mailproof_${candidate}`;
    used.add(candidate);
    return candidate;
  });
};

const createCellWriter = (paths: readonly (readonly string[])[]) => {
  const columns = paths.map(([key = "", inner]) => ({ key, inner }));
  return (result: object): readonly string[] =>
    columns.map(({ key, inner }) => {
      if (key === SEND) return toSendAdvice(String((result as Values)["status"]));
      const value = (result as Values)[key];
      return toCell(inner === undefined ? value : (value as Values | undefined)?.[inner]);
    });
};

/** Only text, numbers, booleans and null have a column. */
const toCell = (value: unknown): string =>
  typeof value === "string" ? value : String((value ?? "") as number | boolean | "");

export const toResultCells: (result: Verification) => readonly string[] = createCellWriter(
  RESULT_COLUMNS.map(({ keys }) => keys),
);

export const toPublicCells: (result: PublicOf<typeof RESULT_FIELDS>) => readonly string[] =
  createCellWriter(RESULT_COLUMNS.map(({ publicKeys }) => publicKeys));

/** The cells of a row without a result, as many as `toResultCells` returns. */
export const BLANK_CELLS: readonly string[] = COLUMN_NAMES.map(() => "");

const normalize = (name: string): string => name.trim().toLowerCase();
