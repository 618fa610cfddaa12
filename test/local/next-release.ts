import { LAYOUTS } from "@mailproof/local/storage/schema";
import { createNextLayouts } from "./next-layouts.ts";

// Imported before a program, it makes the program one of the next release.

const next = createNextLayouts();
for (const [name, layout] of Object.entries(LAYOUTS)) Object.assign(layout, next[name]);
