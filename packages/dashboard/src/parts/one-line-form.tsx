import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { handleSubmit } from "./action.ts";

type Props = {
  readonly id: string;
  readonly label: string;
  readonly inputMode: "email" | "url";
  readonly placeholder: string;
  readonly action: string;
  readonly isBusy?: boolean;
  /** Set when the screen itself reads or writes the field. */
  readonly field?: RefObject<HTMLInputElement | null>;
  readonly onText: (text: string) => void;
  readonly children?: ComponentChildren;
};

/** A form of one text and its button. Without a text it puts the focus back into the field. */
export const OneLineForm = (props: Props) => {
  const own = useRef<HTMLInputElement>(null);
  const { id, label, action, isBusy, field = own, onText } = props;
  return (
    <form
      class="one-line"
      noValidate
      onSubmit={handleSubmit(() => {
        const text = field.current?.value.trim() ?? "";
        if (text === "") field.current?.focus();
        else onText(text);
      })}
    >
      <label for={id}>{label}</label>
      <div class="with-button">
        <input
          ref={field}
          id={id}
          type="text"
          inputMode={props.inputMode}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={props.placeholder}
        />
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {action}
        </button>
      </div>
      {props.children}
    </form>
  );
};
