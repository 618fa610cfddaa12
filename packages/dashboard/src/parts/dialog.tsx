import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

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
