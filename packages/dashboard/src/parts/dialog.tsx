import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Props = {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** The browser's own: it traps the focus and returns it to its button, and Esc closes it. */
export const useDialog = (isOpen: boolean, onClose: () => void) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key arrives: Esc right after Enter closes what Enter opened.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  // Esc closes it by the state, at once. The browser says a moment after its own closing that it closed: a key that opens
  // the dialog again in between would be lost.
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  // By then a key may have opened it again.
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
