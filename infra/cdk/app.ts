// STAGE=production node infra/cdk/app.ts writes the stack that watches over a stage to cdk.out.
import { operationsApp } from "./operations.ts";

const { STAGE: stage = "production", CALL_EMAIL: callEmail } = process.env;

operationsApp({ app: "mailproof", stage, callEmail }, "cdk.out").synth();
