import { useSignal } from "@preact/signals";
import { Icon } from "./icon.tsx";

type Props = {
  readonly what: string;
  readonly how: string;
  readonly note: string;
  readonly accept: string;
  readonly isMultiple?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
};

export const DropZone = ({ what, how, note, accept, isMultiple = false, onFiles }: Props) => {
  const isOver = useSignal(false);
  return (
    <label
      class={isOver.value ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <Icon name="newList" />
      <span>
        <b>{what}</b>
        {how}
      </span>
      <span class="soft">{note}</span>
      <input
        class="unseen"
        type="file"
        multiple={isMultiple}
        accept={accept}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </label>
  );
};
