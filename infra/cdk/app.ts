// STAGE=production node infra/cdk/app.ts writes the stack that watches over a stage to cdk.out.
import { App } from "aws-cdk-lib";
import { operationsStack } from "./operations.ts";

const { STAGE: stage = "production", CALL_EMAIL: callEmail } = process.env;

const app = new App({ outdir: "cdk.out" });
operationsStack(app, { app: "mailproof", stage, callEmail });
app.synth();
