import { readSettings } from "./settings.ts";

/** What the deployer decided about the stage that SST deploys. */
export const settings = readSettings($app.stage, process.env);

// Sizes are made from the account's quota. Without it a deployment would cut a full stage to those of a new account. A live
// session replaces each Lambda by a bridge, so sizes do not matter there.
if (settings.quota === null && !$dev)
  throw new Error(
    `CONCURRENCY_QUOTA is not set, so the sizes of ${$app.stage} are unknown.\nRun npm run deploy -- --stage ${$app.stage}, which reads it from the AWS account, or set it in .env.${$app.stage}.`,
  );
