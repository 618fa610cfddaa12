import type { AppWorld } from "../app-world.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import * as work from "./work.ts";

/** The repairs of scheduled work. A bundle replaces this module with a list of their names (functions/bundle.ts). */
export const kinds: readonly WorkKind<AppWorld>[] = Object.values(work).filter(
  (one) => "repair" in one,
);
