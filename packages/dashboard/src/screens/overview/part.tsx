import type { ComponentChildren } from "preact";
import { isForbidden } from "../../session.ts";

type Props = {
  readonly id: string;
  readonly title: string;
  readonly error: unknown;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** A part of the overview. It is absent when the key may not read its data. */
export const Part = ({ id, title, error, action, children }: Props) =>
  isForbidden(error) ? null : (
    <section class="panel" aria-labelledby={id}>
      <div class="heading">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
