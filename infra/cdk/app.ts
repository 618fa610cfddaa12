// STAGE=production node infra/cdk/app.ts writes the monitoring stack of a stage to cdk.out.
import { readBudget, readQuota, readSize } from "../size.ts";
import { createOperationsApp } from "./operations.ts";

const { STAGE: stage = "production", CALL_EMAIL: callEmail } = process.env;

createOperationsApp(
  {
    app: "mailproof",
    stage,
    size: readSize(stage, process.env),
    quota: readQuota(process.env),
    budgetUsd: readBudget(process.env),
    callEmail,
  },
  "cdk.out",
).synth();
