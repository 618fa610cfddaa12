// STAGE=production node infra/cdk/app.ts writes the monitoring stack of a stage to cdk.out.
import { readQuota, readSize } from "../size.ts";
import { createOperationsApp } from "./operations.ts";

const { STAGE: stage = "production", CALL_EMAIL: callEmail, BUDGET_USD } = process.env;

createOperationsApp(
  {
    app: "mailproof",
    stage,
    size: readSize(stage, process.env),
    quota: readQuota(process.env),
    budgetUsd: BUDGET_USD ? Number(BUDGET_USD) : null,
    callEmail,
  },
  "cdk.out",
).synth();
