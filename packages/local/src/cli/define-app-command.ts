import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Environment, readEnvironment } from "../environment.ts";
import { explainFolderFault } from "../storage/folder-faults.ts";
import { isSecret, readRunningSettings } from "../storage/running-settings.ts";
import { withServiceUrl } from "./admin.ts";
import { type AdminDefinition, definePrinted } from "./define-admin.ts";
import { type CommandDefinition, UsageError } from "./define-command.ts";
import { findJudged } from "./judged-settings.ts";

/** Defines a command on this machine's state: it opens the state, runs, prints the result, and closes the state. */
export const defineAppCommand = <O extends CommandDefinition["options"]>(
  definition: AdminDefinition<O>,
): CommandDefinition =>
  definePrinted(definition, async ({ environment: shell, options }) => {
    const environment = definition.judgesServer ? adoptSettings(shell) : shell;
    if (!definition.mayCreateFolder) assertStateFolder(environment.MAILPROOF_DIR);
    // The following modules are half of the program: help and a wrong option need no part of it.
    const [{ createApp }, { createLineLog }, { upgradeIfOlder }] = await Promise.all([
      import("../app.ts"),
      import("../line-log.ts"),
      import("../storage/upgrade-folder.ts"),
    ]);
    const openApp = async () => {
      const log = createLineLog(environment.LOG_LEVEL, () => new Date());
      await upgradeIfOlder(environment.MAILPROOF_DIR, log);
      return createApp(environment, () => "", null);
    };
    const { world: app, close } = await openApp().catch((error: Error) => {
      const message = explainFolderFault(environment.MAILPROOF_DIR, error);
      throw message === undefined ? error : new Error(message, { cause: error });
    });
    const world = withServiceUrl(app, findServiceUrl(environment));
    try {
      return await definition.run(world, options, environment);
    } finally {
      close();
    }
  });

/** The server's secret settings are masked, so secrets come from this shell; no check depends on them. */
const adoptSettings = ({ MAILPROOF_DIR }: Environment): Environment => {
  const judged = Object.entries(findJudged(MAILPROOF_DIR, process.env));
  const own = Object.entries(process.env).filter(([name]) => isSecret(name));
  return readEnvironment(
    Object.fromEntries([...judged.filter(([name]) => !isSecret(name)), ...own]),
  );
};

/** The URL in links to the dashboard: that of the server on this folder, or of one that this shell would start. */
const findServiceUrl = ({ MAILPROOF_DIR, PUBLIC_URL, PORT, BASE_PATH }: Environment): string => {
  const running = readRunningSettings(MAILPROOF_DIR);
  const own = PUBLIC_URL ?? `http://localhost:${PORT}${BASE_PATH}`;
  return running?.settings["PUBLIC_URL"] ?? running?.base_url ?? own;
};

/** A mistyped folder must not look like an empty, healthy state. */
export const assertStateFolder = (directory: string): void => {
  if (existsSync(join(directory, "state.sqlite"))) return;
  throw new UsageError(`${resolve(directory)} has no Mailproof state. Set MAILPROOF_DIR.`);
};
