import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Action } from "./action.ts";
import { ErrorPanel } from "./error-panel.tsx";

type Props = {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** A native dialog: it traps the focus, returns it to its button, and closes on Esc. */
export const useDialog = (isOpen: boolean, onClose: () => void) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // A layout effect runs before the next key arrives: Esc right after Enter closes the dialog that Enter opened.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  // Esc changes the state at once. The browser reports its own closing a moment later, and would lose a key that opens the dialog again in
  // between.
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  const onClosed = () => {
    if (!dialog.current?.open) onClose();
  };
  return { ref: dialog, onCancel, onClose: onClosed };
};

export const Dialog = ({ title, isOpen, onClose, children }: Props) => (
  <dialog {...useDialog(isOpen, onClose)} aria-label={title}>
    {isOpen && (
      <>
        <h2>{title}</h2>
        {children}
      </>
    )}
  </dialog>
);

type AnswersProps = {
  readonly action: Action<[]>;
  readonly yes: string;
  /** The text of the button while the action runs. */
  readonly busy?: string;
  readonly class?: string;
  /** The form around it runs the action. */
  readonly isForm?: true;
  readonly onClose: () => void;
};

/** The end of a dialog: the error of its action, the button that runs it, and the one that does not. */
export const Answers = ({
  action,
  yes,
  busy = yes,
  class: name = "primary",
  isForm,
  onClose,
}: AnswersProps) => (
  <>
    {action.error !== undefined && <ErrorPanel error={action.error} />}
    <div class="actions">
      <button
        type={isForm ? "submit" : "button"}
        class={name}
        aria-disabled={action.isRunning}
        onClick={isForm ? undefined : () => void action.run()}
      >
        {action.isRunning ? busy : yes}
      </button>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
    </div>
  </>
);
