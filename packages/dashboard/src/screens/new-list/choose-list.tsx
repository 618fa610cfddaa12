import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Icon } from "../../parts/icon.tsx";

export type ChosenList = { readonly file: Blob; readonly fileName: string };

type Props = { readonly onChoose: (chosen: ChosenList) => void };

/** The API takes these two names; what is inside decides how it is read. */
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

/** Drop, choose or paste. */
export const ChooseList = ({ onChoose }: Props) => {
  const isOver = useSignal(false);
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? [];
    if (file) onChoose({ file, fileName: toFileName(file.name) });
  };
  return (
    <>
      <label
        class={isOver.value ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          isOver.value = true;
        }}
        onDragLeave={() => {
          isOver.value = false;
        }}
        onDrop={(event) => {
          event.preventDefault();
          isOver.value = false;
          take(event.dataTransfer?.files);
        }}
      >
        <Icon name="newList" />
        <span>
          <b>Choose a CSV, TXT or XLSX file</b>, or drop it here
        </span>
        <span class="soft">
          It is read in this browser first. Nothing is sent, and nothing charged.
        </span>
        <input
          class="unseen"
          type="file"
          accept=".csv,.txt,.xlsx,text/csv,text/plain"
          onChange={(event) => take(event.currentTarget.files)}
        />
      </label>
      <Paste onChoose={onChoose} />
    </>
  );
};
