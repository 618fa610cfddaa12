import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { upgradeFolder } from "@mailproof/local/storage/upgrade-folder";
import { createNextLayouts } from "./next-layouts.ts";

// Upgrades a folder, as a server does at its start, and stops in the middle of a step, with half of it done. For a test that
// kills this process.
//
//   node test/local/upgrade-process.ts FOLDER state.sqlite|queue.sqlite

const [folder = "", stopsIn] = process.argv.slice(2);

const stop = () => {
  writeFileSync(join(folder, "in-the-middle"), "");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

await upgradeFolder(folder, { layouts: createNextLayouts({ file: stopsIn, stop }) });
