import { INBOUND_MAIL_QUEUE } from "@mailproof/core/deliverability/ses-mail/receive-ses-mail";
import { INBOUND, mailDomain, RULE_NAME, ruleConditions, ruleSetName } from "./mail-rule.ts";
import { createMailTopic } from "./mail-topic.ts";
import { bucket } from "./storage.ts";

// Amazon SES stores a mail in the bucket and publishes its envelope, which a queue brings to the worker. An AWS account has one active
// rule set: the operator activates this one, or copies its rule into the active one, so a deployment never turns off another service's mail.

const createRule = (domain: string) => {
  const { topic, ready } = createMailTopic({
    name: "InboundMail",
    queue: INBOUND_MAIL_QUEUE.name,
    subscription: "InboundMailToQueue",
    conditions: ruleConditions,
  });

  const ruleSet = new aws.ses.ReceiptRuleSet("InboundMailRules", { ruleSetName });

  // SES tests both permissions when the rule is created.
  new aws.ses.ReceiptRule(
    "InboundMailRule",
    {
      name: RULE_NAME,
      ruleSetName: ruleSet.ruleSetName,
      enabled: true,
      recipients: [domain],
      // TLS is optional: a mail test reports its absence, and some receivers send their reports without it.
      tlsPolicy: "Optional",
      // The worker reads no verdict of SES about spam and viruses.
      scanEnabled: false,
      s3Actions: [
        { position: 1, bucketName: bucket.name, objectKeyPrefix: INBOUND, topicArn: topic.arn },
      ],
    },
    { dependsOn: ready },
  );
};

if (mailDomain) createRule(mailDomain);
