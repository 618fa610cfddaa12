import type { DownloadJobInput } from "@mailproof/client";
import { useState } from "preact/hooks";
import { formatNumber } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { saveFile } from "../../parts/csv-button.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { getClient } from "../../session.ts";
import { STATUS_GROUPS } from "../lists/job.ts";

/** Which rows a file has. "list" is every row of the list, with why a row has no result. */
const ROWS = {
  all: "Rows with a result",
  list: "Every row of the list",
  safe_to_send: "Safe to send",
  ...STATUS_GROUPS,
  catch_all: "Catch-all",
  disposable: "Disposable",
  role: "Role addresses",
  spam_trap: "Spam traps",
} as const;
type Rows = keyof typeof ROWS;

const FILES = {
  csv: "CSV, like your file",
  comma: "CSV, comma",
  semicolon: "CSV, semicolon",
  tab: "CSV, tab",
  xlsx: "Spreadsheet (XLSX)",
} as const;
type File = keyof typeof FILES;

const toForm = (file: File): Partial<DownloadJobInput> => {
  if (file === "csv") return {};
  return file === "xlsx" ? { as: "spreadsheet" } : { delimiter: file };
};

const toRequest = (rows: Rows, file: File): Omit<DownloadJobInput, "id"> => ({
  ...(rows === "list" ? { selection: "all" } : { filter: rows }),
  ...toForm(file),
});

type ChoiceProps<T extends string> = {
  readonly id: string;
  readonly label: string;
  readonly choices: Readonly<Record<T, string>>;
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
};

const Choice = <T extends string>({ id, label, choices, chosen, onChoose }: ChoiceProps<T>) => (
  <p>
    <label for={id}>{label}</label>
    <select id={id} value={chosen} onChange={(event) => onChoose(event.currentTarget.value as T)}>
      {Object.entries<string>(choices).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  </p>
);

type Props = {
  readonly job: string;
  readonly title: string;
  readonly isRunning: boolean;
  /** How many rows have a result. */
  readonly verified: number;
};

/** The results as a file: all or some of them, even while the list runs. */
export const Downloads = ({ job, title, isRunning, verified }: Props) => {
  const [rows, setRows] = useState<Rows>("all");
  const [file, setFile] = useState<File>("csv");
  const download = useAction(async () => {
    const { fileName = title, stream } = await getClient().download({
      id: job,
      ...toRequest(rows, file),
    });
    saveFile(fileName, await new Response(stream).blob());
  });
  return (
    <section class="panel wide downloads" aria-labelledby="download">
      <h2 id="download">Download</h2>
      {isRunning && (
        <p class="soft">
          The list is still running: {formatNumber(verified)} of its rows have a result so far.
        </p>
      )}
      <div class="field-row">
        <Choice id="file-rows" label="Which rows" choices={ROWS} chosen={rows} onChoose={setRows} />
        <Choice id="file-kind" label="As" choices={FILES} chosen={file} onChoose={setFile} />
        <button
          type="button"
          class="primary"
          aria-disabled={download.isRunning}
          onClick={() => void download.run()}
        >
          {download.isRunning ? "Reading the rows …" : "Download"}
        </button>
      </div>
      {download.error !== undefined && (
        <ErrorPanel error={download.error} onRetry={() => void download.run()} />
      )}
    </section>
  );
};
