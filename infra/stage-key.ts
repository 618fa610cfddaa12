import { settings } from "./stage.ts";

const account = aws.getCallerIdentityOutput({}).accountId;

/** SES must encrypt its messages, and AWS's own key of SNS does not allow SES to use it. */
const policy = aws.iam.getPolicyDocumentOutput({
  statements: [
    {
      actions: ["kms:*"],
      resources: ["*"],
      principals: [{ type: "AWS", identifiers: [$interpolate`arn:aws:iam::${account}:root`] }],
    },
    {
      actions: ["kms:Decrypt", "kms:GenerateDataKey"],
      resources: ["*"],
      principals: [{ type: "Service", identifiers: ["ses.amazonaws.com"] }],
      conditions: [{ test: "StringEquals", variable: "aws:SourceAccount", values: [account] }],
    },
  ],
});

/**
 * A full stage has a key. It encrypts the secrets in the settings of Lambdas, so a reader of the settings sees them only with
 * the permission to decrypt; Lambda itself decrypts them when it starts one. It also encrypts the topics, whose messages name
 * addresses. A lean stage saves its price.
 */
export const stageKey =
  settings.size === "full"
    ? new aws.kms.Key("Settings", {
        description: `The settings of the Lambdas of ${$app.name} ${$app.stage}`,
        enableKeyRotation: true,
        policy: policy.json,
      })
    : null;
