// STAGE=production node infra/cdk/app.ts writes the monitoring stack of a stage to cdk.out.
import { createOperationsApp } from "./operations.ts";

const { STAGE: stage = "production", CALL_EMAIL: callEmail } = process.env;

createOperationsApp({ app: "mailproof", stage, callEmail }, "cdk.out").synth();
