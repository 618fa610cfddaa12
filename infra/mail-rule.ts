import type { RetentionPrefix } from "@mailproof/core/ports/blobs";

// Amazon SES receives the mail of MAIL_DOMAIN by this rule. Its names are constants, because the policies of the topic and the
// bucket name the rule, and the rule needs both.

/** Undefined when this stage receives no mail. */
export const mailDomain = process.env["MAIL_DOMAIN"]?.toLowerCase() || undefined;

/** The key prefix under which SES stores mail. */
export const INBOUND: RetentionPrefix = "inbound/";

/** An AWS account allows a name of a rule set once, so the name contains the stage. */
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
