import { useState } from "preact/hooks";
import { ErrorPanel } from "./error-panel.tsx";

export type CsvRow = readonly (string | number)[];

export type CsvTable = { readonly header: readonly string[]; readonly rows: readonly CsvRow[] };

type Props = {
  /** Without its ending. */
  readonly fileName: string;
  /** A promise, where the table is longer than what is shown. */
  readonly getTable: () => CsvTable | Promise<CsvTable>;
  /** What the file contains, such as "Credits per day". */
  readonly of: string;
};

/** Saves the numbers of a picture or a table as a file. */
export const CsvButton = ({ fileName, getTable, of }: Props) => {
  const [isMaking, setMaking] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async () => {
    if (isMaking) return;
    setMaking(true);
    setError(undefined);
    try {
      const csv = formatCsv(await getTable());
      saveFile(`${fileName}.csv`, new Blob([csv], { type: "text/csv;charset=utf-8" }));
    } catch (cause) {
      setError(cause);
    }
    setMaking(false);
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-disabled={isMaking}
        aria-label={`${of} as CSV`}
        onClick={() => void save()}
      >
        {isMaking ? "Reading all entries …" : "CSV"}
      </button>
      {error !== undefined && <ErrorPanel error={error} onRetry={() => void save()} />}
    </>
  );
};

export const saveFile = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

export const formatCsv = ({ header, rows }: CsvTable): string =>
  [header, ...rows].map((cells) => `${cells.map(formatCell).join(",")}\r\n`).join("");

/** A text that a spreadsheet would run as a formula gets a leading ', as in the exports of the API. */
const formatCell = (cell: string | number): string => {
  const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
