import { useRef } from "preact/hooks";
import { Icon } from "../parts/icon.tsx";
import { Navigation } from "./navigation.tsx";

/** The navigation of a small window is a native dialog, which keeps the focus inside and closes on Esc. */
export const Menu = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  return (
    <>
      <button
        type="button"
        class="icon-button menu"
        aria-haspopup="dialog"
        onClick={() => dialog.current?.showModal()}
      >
        <Icon name="menu" />
        <span class="unseen">Menu</span>
      </button>
      <dialog
        ref={dialog}
        class="menu-dialog"
        aria-label="Menu"
        onClick={(event) => {
          if (event.target === dialog.current) close();
        }}
      >
        <button type="button" class="icon-button" onClick={close}>
          <Icon name="close" />
          <span class="unseen">Close</span>
        </button>
        <Navigation onChoose={close} />
      </dialog>
    </>
  );
};
