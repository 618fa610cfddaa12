import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";

type Props = {
  readonly title: string;
  readonly tabs?: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** The layout of every screen: its heading, which the frame focuses, and the title of the tab. */
export const Screen = ({ title, tabs, lead, actions, children }: Props) => {
  useLayoutEffect(() => {
    document.title = `${title} · Mailproof`;
  }, [title]);
  return (
    <>
      <div class="heading head">
        <h1 tabIndex={-1}>{title}</h1>
        {tabs}
        {actions && <div class="actions">{actions}</div>}
      </div>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </>
  );
};
