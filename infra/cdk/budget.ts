import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import type { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { Size } from "../settings.ts";

/** Dollars a month for the whole AWS account: a stage without requests (docs/costs.md), and as much again for use. */
export const DEFAULT_BUDGET_USD: Readonly<Record<Size, number>> = { full: 200, lean: 50 };

/** AWS notifies the operator when most of the amount is spent, and when AWS expects more than the whole amount. */
const NOTIFICATIONS = [
  { notificationType: "ACTUAL", threshold: 80 },
  { notificationType: "FORECASTED", threshold: 100 },
] as const;

/** The budget covers the account, since the tags of a stage count only when its owner has activated them for costs. */
export const createBudget = (scope: Construct, name: string, amount: number, calls: Topic) =>
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
