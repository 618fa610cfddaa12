import { resolve } from "node:path";
import { readRunningSettings } from "../storage/running-settings.ts";
import { writeNote } from "./notes.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the settings of the server that runs on this folder, or else this shell's. A note states the source. */
export const findJudged = (directory: string, shell: Variables): Variables => {
  const running = readRunningSettings(directory);
  writeNote(
    running
      ? `Settings: of the server that runs on ${resolve(directory)} (${running.base_url}).\n`
      : `Settings: of this shell, since no server runs on ${resolve(directory)}.\n`,
  );
  return running ? { ...running.settings, MAILPROOF_DIR: directory } : shell;
};
