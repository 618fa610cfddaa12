import type { ComponentChildren } from "preact";
import { isForbidden } from "../../session.ts";

type Props = {
  readonly id: string;
  readonly title: string;
  /** Why it could not be loaded. */
  readonly error: unknown;
  /** Beside the title. */
  readonly action?: ComponentChildren;
  /** What the screen is about; else it is one of the facts beside. */
  readonly isMain?: true;
  readonly children: ComponentChildren;
};

/** A part of the overview. What the key may not read is left out: the screen shows what it may see. */
export const Part = ({ id, title, error, action, isMain, children }: Props) =>
  isForbidden(error) ? null : (
    <section class={isMain ? "panel main" : "panel"} aria-labelledby={id}>
      <div class="heading">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
