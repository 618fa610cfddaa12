import type { DownloadJobInput } from "@mailproof/client";
import { getClient } from "../session.ts";
import { useAction } from "./action.ts";
import { ErrorPanel } from "./error-panel.tsx";

export type CsvRow = readonly (string | number)[];

export type CsvTable = { readonly header: readonly string[]; readonly rows: readonly CsvRow[] };

type Props = {
  readonly fileName: string;
  /** A promise when the table is longer than its visible part. */
  readonly getTable: () => CsvTable | Promise<CsvTable>;
  readonly of: string;
};

export const CsvButton = ({ fileName, getTable, of }: Props) => {
  const { isRunning, error, run } = useAction(async () => {
    const csv = formatCsv(await getTable());
    saveFile(`${fileName}.csv`, new Blob([csv], { type: "text/csv;charset=utf-8" }));
  });
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-disabled={isRunning}
        aria-label={`${of} as CSV`}
        onClick={() => void run()}
      >
        {isRunning ? "Reading all entries …" : "CSV"}
      </button>
      {error !== undefined && <ErrorPanel error={error} onRetry={() => void run()} />}
    </>
  );
};

export const saveFile = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

/** Saves an export under the name that the API gives it. */
export const saveStream = async (request: DownloadJobInput, title: string): Promise<void> => {
  const { fileName = title, stream } = await getClient().download(request);
  saveFile(fileName, await new Response(stream).blob());
};

export const formatCsv = ({ header, rows }: CsvTable): string =>
  [header, ...rows].map((cells) => `${cells.map(formatCell).join(",")}\r\n`).join("");

/** A text that a spreadsheet would run as a formula gets a leading ', as in the API's exports. */
const formatCell = (cell: string | number): string => {
  const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
