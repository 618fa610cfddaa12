import { findQuota, NEW_ACCOUNT_QUOTA } from "./quota.ts";
import { readSettings } from "./settings.ts";

const given = readSettings($app.stage, process.env);

const readParameter = async (name: string) => (await aws.ssm.getParameter({ name })).value;

/** The settings of the stage that SST deploys. A live session creates bridges, which need no sizes. */
export const settings = {
  ...given,
  quota: $dev ? NEW_ACCOUNT_QUOTA : await findQuota($app.stage, given, readParameter),
};
