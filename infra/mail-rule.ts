import type { RetentionPrefix } from "@mailproof/core/ports/blobs";

// The rule by which Amazon SES receives the mail of MAIL_DOMAIN. Its names are set here, since the policies that permit SES to act
// name the rule, and the rule needs what they are about.

/** Undefined when this stage receives no mail. */
export const mailDomain = process.env["MAIL_DOMAIN"]?.toLowerCase() || undefined;

/** The key prefix under which SES stores mail. */
export const INBOUND: RetentionPrefix = "inbound/";

/** Names of rules are unique in an AWS account, so they have the stage's. */
export const ruleSetName = `${$app.name}-${$app.stage}`;
export const RULE_NAME = "receive";

const account = aws.getCallerIdentityOutput({}).accountId;
const region = aws.getRegionOutput({}).region;

/** The conditions under which SES may store and publish: for this rule, and for no other account's. */
export const ruleConditions = [
  { test: "StringEquals", variable: "aws:SourceAccount", values: [account] },
  {
    test: "StringEquals",
    variable: "aws:SourceArn",
    values: [
      $interpolate`arn:aws:ses:${region}:${account}:receipt-rule-set/${ruleSetName}:receipt-rule/${RULE_NAME}`,
    ],
  },
];
