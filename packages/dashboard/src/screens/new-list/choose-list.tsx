import { useRef } from "preact/hooks";
import { DropZone } from "../../parts/drop-zone.tsx";
import type { Workbook } from "./convert-spreadsheet.ts";

export type ChosenList = {
  readonly file: Blob;
  readonly fileName: string;
  /** The file was made of it. */
  readonly workbook?: Workbook;
};

type Props = { readonly onChoose: (chosen: ChosenList) => void };

/** The API accepts these two extensions; the content decides how it reads the file. */
const toFileName = (name: string): string => (/\.(csv|txt)$/i.test(name) ? name : `${name}.csv`);

const Paste = ({ onChoose }: Props) => {
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const text = field.current?.value ?? "";
        if (text.trim() === "") field.current?.focus();
        else onChoose({ file: new Blob([text]), fileName: "pasted.txt" });
      }}
    >
      <label for="pasted">Or paste addresses, one on each line</label>
      <textarea ref={field} id="pasted" rows={6} spellcheck={false} />
      <button type="submit">Preview</button>
    </form>
  );
};

export const ChooseList = ({ onChoose }: Props) => (
  <>
    <DropZone
      what="Choose a CSV, TXT or XLSX file"
      how=", or drop it here"
      note="Your browser reads it first. Nothing is sent or charged yet."
      accept=".csv,.txt,.xlsx,text/csv,text/plain"
      onFiles={([file]) => {
        if (file) onChoose({ file, fileName: toFileName(file.name) });
      }}
    />
    <Paste onChoose={onChoose} />
  </>
);
