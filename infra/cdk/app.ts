// node infra/cdk/app.ts STAGE writes the monitoring stack of a stage to cdk.out. Its settings are the environment's.
import { readSettings } from "../settings.ts";
import { createOperationsApp } from "./operations.ts";

const [stage = "production"] = process.argv.slice(2);

createOperationsApp(
  { app: "mailproof", stage, settings: readSettings(stage, process.env) },
  "cdk.out",
).synth();
