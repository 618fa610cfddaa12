import { App, DefaultStackSynthesizer, Stack, Tags, Validations } from "aws-cdk-lib";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { StringParameter } from "aws-cdk-lib/aws-ssm";
import { AwsSolutionsChecks } from "cdk-nag";
import type { Construct } from "constructs";
import { createTags } from "../lifecycle.ts";
import { createParameterNamer, toServiceName } from "../parameters.ts";
import type { Settings, Size } from "../settings.ts";
import { listGateways } from "../topology.ts";
import { createAlarms, getComparison, getMissingDataTreatment } from "./alarms.ts";
import { createDashboard } from "./dashboard.ts";

export type OperationsOptions = {
  readonly app: string;
  readonly stage: string;
  readonly settings: Settings;
  /** How many Lambdas the account may run at once. */
  readonly quota: number;
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
const createOperationsStack = (scope: App, options: OperationsOptions): Stack => {
  const { app, stage, settings, quota } = options;
  const { size, budgetUsd, callEmail, owner } = settings;
  const service = toServiceName(app, stage);
  const stack = new Stack(scope, `${service}-operations`, {
    description: `Monitoring of ${app} ${stage}: alarms and a dashboard`,
    // The stack has no assets, so the account needs no CDK bootstrap.
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  for (const [name, value] of Object.entries(createTags(stage, owner)))
    Tags.of(stack).add(name, value);
  const toParameterName = createParameterNamer(app, stage);
  const nameOf = (key: string) =>
    StringParameter.valueForStringParameter(stack, toParameterName(key));
  const monitored = {
    nameOf,
    service,
    size,
    gateways: listGateways(settings),
    quota,
  };

  const calls = createTopic(stack, `${app} ${stage}`, callEmail);
  const call = new SnsAction(calls);
  const alarms = createAlarms(monitored).map((watch) => {
    const { id, metric, threshold, periods, description } = watch;
    const alarm = new Alarm(stack, id, {
      alarmName: `${service}-${id}`,
      alarmDescription: description,
      metric,
      threshold,
      comparisonOperator: getComparison(watch),
      evaluationPeriods: periods,
      treatMissingData: getMissingDataTreatment(watch),
    });
    alarm.addAlarmAction(call);
    alarm.addOkAction(call);
    return alarm;
  });
  createBudget(stack, service, budgetUsd ?? DEFAULT_BUDGET_USD[size], calls);
  createDashboard(stack, service, monitored, alarms);
  return stack;
};

/** A topic's own policy replaces the policy that lets its owner publish, so this policy lists the publishers. */
const createTopic = (stack: Stack, displayName: string, callEmail: string | null): Topic => {
  const topic = new Topic(stack, "Calls", { enforceSSL: true, displayName });
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: ["cloudwatch", "budgets"].map(
        (service) => new ServicePrincipal(`${service}.amazonaws.com`),
      ),
      actions: ["sns:Publish"],
      resources: [topic.topicArn],
      conditions: { StringEquals: { "aws:SourceAccount": stack.account } },
    }),
  );
  if (callEmail) topic.addSubscription(new EmailSubscription(callEmail));
  return topic;
};

/** Dollars a month for the whole AWS account: a stage without requests (docs/costs.md), and as much again for use. */
const DEFAULT_BUDGET_USD: Readonly<Record<Size, number>> = { full: 200, lean: 50 };

/** AWS notifies the operator when most of the amount is spent, and when AWS expects more than the whole amount. */
const NOTIFICATIONS = [
  { notificationType: "ACTUAL", threshold: 80 },
  { notificationType: "FORECASTED", threshold: 100 },
] as const;

/** The budget covers the account, since the tags of a stage count only when its owner has activated them for costs. */
const createBudget = (scope: Construct, name: string, amount: number, calls: Topic) =>
  new CfnBudget(scope, "Budget", {
    budget: {
      budgetName: name,
      budgetType: "COST",
      timeUnit: "MONTHLY",
      budgetLimit: { amount, unit: "USD" },
    },
    notificationsWithSubscribers: NOTIFICATIONS.map((one) => ({
      notification: {
        ...one,
        thresholdType: "PERCENTAGE",
        comparisonOperator: "GREATER_THAN",
      },
      subscribers: [{ subscriptionType: "SNS", address: calls.topicArn }],
    })),
  });
