// node infra/cdk/app.ts STAGE writes the monitoring stack of a stage to cdk.out. Its settings are the environment's.
import { openPrograms } from "../deploy/programs.ts";
import { readParameter } from "../deploy/steps.ts";
import { findQuota } from "../quota.ts";
import { readSettings } from "../settings.ts";
import { createOperationsApp } from "./operations.ts";

const [stage = "production"] = process.argv.slice(2);

const settings = readSettings(stage, process.env);
const programs = openPrograms({ ...process.env, AWS_DEFAULT_REGION: settings.region });
const quota = await findQuota(stage, settings, (name) => readParameter(programs, name));

createOperationsApp({ app: "mailproof", stage, settings, quota }, "cdk.out").synth();
