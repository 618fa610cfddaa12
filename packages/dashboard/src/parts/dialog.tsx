import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Props = {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** The browser's own: it traps the focus and returns it to its button, and Esc closes it. */
export const Dialog = ({ title, isOpen, onClose, children }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key arrives: Esc right after Enter closes what Enter opened.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      {isOpen && (
        <>
          <h2>{title}</h2>
          {children}
        </>
      )}
    </dialog>
  );
};
