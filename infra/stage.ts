import { readSettings } from "./settings.ts";

/** What the deployer decided about the stage that SST deploys. */
export const settings = readSettings($app.stage, process.env);
