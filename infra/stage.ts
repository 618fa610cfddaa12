import { findQuota, NEW_ACCOUNT_QUOTA } from "./quota.ts";
import { readSettings } from "./settings.ts";

const given = readSettings($app.stage, process.env);

const readParameter = async (name: string) => (await aws.ssm.getParameter({ name })).value;

/** The deployer's decisions about the stage that SST deploys. In a live session the Lambdas are bridges, whose sizes do not matter. */
export const settings = {
  ...given,
  quota: $dev ? NEW_ACCOUNT_QUOTA : await findQuota($app.stage, given, readParameter),
};
