// STAGE=production node infra/cdk/app.ts writes the monitoring stack of a stage to cdk.out.
import { readSettings } from "../settings.ts";
import { createOperationsApp } from "./operations.ts";

const { STAGE: stage = "production" } = process.env;

createOperationsApp(
  { app: "mailproof", stage, settings: readSettings(stage, process.env) },
  "cdk.out",
).synth();
