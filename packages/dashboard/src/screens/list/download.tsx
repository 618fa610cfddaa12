import type { DownloadJobInput } from "@mailproof/client";
import { formatCount } from "../../format.ts";
import { type Action, useAction } from "../../parts/action.ts";
import { saveFile, saveStream } from "../../parts/csv-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { MenuButton } from "../../parts/menu-button.tsx";
import { getClient } from "../../session.ts";

type Rows = Pick<DownloadJobInput, "id" | "filter" | "q">;

const FILES = {
  csv: "CSV, like your file",
  spreadsheet: "Excel (XLSX)",
  json: "JSON",
  zip: "ZIP: a CSV for each of yes, careful and no",
  every: "CSV of every row of your file",
} as const;
type File = keyof typeof FILES;

const OPTIONS: Readonly<Record<Exclude<File, "json">, Partial<DownloadJobInput>>> = {
  csv: {},
  spreadsheet: { as: "spreadsheet" },
  zip: { as: "zip" },
  every: { selection: "all" },
};

/** Opens a file's link without leaving the page, because the response asks the browser to save it. */
const followLink = (url: string): void => {
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
};

const saveJson = async (rows: Rows, title: string): Promise<void> => {
  const data: object = await getClient().downloadJob(rows);
  // The API stores more than 5,000 rows as a file behind a link.
  if ("download_url" in data) followLink(String(data.download_url));
  else saveFile(`${title}.json`, new Blob([JSON.stringify(data)], { type: "application/json" }));
};

const save = async (rows: Rows, file: File, title: string): Promise<void> => {
  if (file === "json") return saveJson(rows, title);
  const request = { ...(file === "every" ? { id: rows.id } : rows), ...OPTIONS[file] };
  return saveStream(request, title);
};

export const useDownload = (rows: Rows, title: string): Action<[File]> =>
  useAction((file: File) => save(rows, file, title));

type Props = {
  readonly download: Action<[File]>;
  readonly count: number;
  /** Without a filter the menu also offers every row of the file, including rows without a result. */
  readonly isFiltered: boolean;
};

export const DownloadButton = ({ download, count, isFiltered }: Props) => {
  const isOff = download.isRunning || count === 0;
  const run = (file: File) => {
    if (!isOff) void download.run(file);
  };
  return (
    <span class="split">
      <button type="button" class="primary" aria-disabled={isOff} onClick={() => run("csv")}>
        {download.isRunning ? "Reading the rows …" : `Download ${formatCount(count, "row")}`}
      </button>
      <MenuButton
        class="primary"
        label={
          <>
            <Icon name="down" />
            <span class="unseen">Download as</span>
          </>
        }
      >
        {(close) =>
          Object.entries(FILES)
            .filter(([file]) => file !== "every" || !isFiltered)
            .map(([file, text]) => (
              <button
                type="button"
                key={file}
                onClick={() => {
                  close();
                  run(file as File);
                }}
              >
                {text}
              </button>
            ))
        }
      </MenuButton>
    </span>
  );
};
