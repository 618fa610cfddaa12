import { Loaded, useLoad } from "../../parts/load.tsx";
import { runCommand } from "../../session.ts";

type Light = {
  readonly light: string;
  readonly on: boolean;
  readonly missing: string | null;
  readonly how: string | null;
};
type Checklist = { readonly ok: boolean; readonly lights: readonly Light[] };

/** The requirements of this server before customers depend on it, each with the setting that meets it. */
export const ChecklistPanel = () => {
  const load = useLoad((signal) => runCommand<Checklist>("checklist", {}, signal));
  return (
    <section class="panel main wide" aria-labelledby="checklist">
      <h2 id="checklist">Before customers depend on it</h2>
      <Loaded load={load} what="the checklist">
        {({ lights }) => (
          <>
            <p class="soft">
              {lights.filter(({ on }) => on).length} of {lights.length} are on.
            </p>
            <ul class="lights">
              {lights.map(({ light, on, missing, how }) => (
                <li key={light} class={on ? "good" : "off"}>
                  <b>{light}</b> <span>{on ? "on" : `off: ${missing}`}</span>
                  {how && <small>{how}</small>}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </section>
  );
};
