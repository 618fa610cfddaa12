import type { ComponentChildren, TargetedToggleEvent } from "preact";
import { useId, useRef } from "preact/hooks";

const GAP_PX = 4;
const EDGE_PX = 16;
const WIDTH_PX = 320;

type Props = {
  readonly label: ComponentChildren;
  readonly class?: string;
  readonly children: (close: () => void) => ComponentChildren;
};

/** A button with a menu below it: a native popover, which closes on Esc and on a click beside it, and returns the focus. */
export const MenuButton = ({ label, class: name = "", children }: Props) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  /** The browser draws a popover above everything, without a position relative to its button. */
  const place = ({ newState }: TargetedToggleEvent<HTMLDivElement>) => {
    const box = button.current?.getBoundingClientRect();
    if (newState !== "open" || !box) return;
    const width = Math.min(WIDTH_PX, innerWidth - 2 * EDGE_PX);
    const left = Math.max(EDGE_PX, box.right - width);
    menu.current?.style.setProperty("inset", `${box.bottom + GAP_PX}px auto auto ${left}px`);
  };
  return (
    <>
      <button ref={button} type="button" class={name} popovertarget={id}>
        {label}
      </button>
      <div ref={menu} id={id} popover="auto" class="popover menu-list" onBeforeToggle={place}>
        {children(() => menu.current?.hidePopover())}
      </div>
    </>
  );
};
