import { App, DefaultStackSynthesizer, Stack, Validations } from "aws-cdk-lib";
import { Alarm, ComparisonOperator } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { StringParameter } from "aws-cdk-lib/aws-ssm";
import { AwsSolutionsChecks } from "cdk-nag";
import { createParameterNamer } from "../parameters.ts";
import { createAlarms, getMissingDataTreatment } from "./alarms.ts";
import { createDashboard } from "./dashboard.ts";

export type OperationsOptions = {
  readonly app: string;
  readonly stage: string;
  /** The email address for alarms. Without it the operator subscribes to the topic. */
  readonly callEmail?: string | undefined;
};

/** Fails the synthesis if the stack breaks one of cdk-nag's AWS Solutions rules. */
export const createOperationsApp = (options: OperationsOptions, outdir: string): App => {
  const app = new App({ outdir });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  createOperationsStack(app, options);
  return app;
};

/**
 * The monitoring of a stage, in a stack of its own: it survives a failed deployment of the product, and changing an
 * alarm changes no resource that serves requests.
 */
const createOperationsStack = (scope: App, { app, stage, callEmail }: OperationsOptions): Stack => {
  const name = `${app}-${stage}-operations`;
  const stack = new Stack(scope, name, {
    description: `Monitoring of ${app} ${stage}: alarms and a dashboard`,
    // The stack has no assets, so the account needs no CDK bootstrap.
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  const toParameterName = createParameterNamer(app, stage);
  const getName = (key: string) =>
    StringParameter.valueForStringParameter(stack, toParameterName(key));

  const calls = new Topic(stack, "Calls", { enforceSSL: true, displayName: `${app} ${stage}` });
  if (callEmail) calls.addSubscription(new EmailSubscription(callEmail));
  const call = new SnsAction(calls);

  const alarms = createAlarms(getName).map((watch) => {
    const { id, metric, threshold, periods, description } = watch;
    const alarm = new Alarm(stack, id, {
      alarmName: `${app}-${stage}-${id}`,
      alarmDescription: description,
      metric,
      threshold: threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: getMissingDataTreatment(watch),
    });
    alarm.addAlarmAction(call);
    alarm.addOkAction(call);
    return alarm;
  });
  createDashboard(stack, `${app}-${stage}`, getName, alarms);
  return stack;
};
