import { INBOUND_MAIL_QUEUE } from "@mailproof/core/deliverability/ses-mail/receive-ses-mail";
import { INBOUND, mailDomain, RULE_NAME, ruleConditions, ruleSetName } from "./mail-rule.ts";
import { getQueue } from "./queues.ts";
import { bucket } from "./storage.ts";

// Amazon SES stores a mail in the bucket and publishes its envelope, which a queue brings to the worker. An AWS account has one active
// rule set: the operator activates this one, or copies its rule into the active one, so a deployment never turns off another service's mail.

const createRule = (domain: string) => {
  const topic = new aws.sns.Topic("InboundMail");

  const topicPolicy = new aws.sns.TopicPolicy("InboundMailPolicy", {
    arn: topic.arn,
    policy: aws.iam.getPolicyDocumentOutput({
      statements: [
        {
          actions: ["sns:Publish"],
          resources: [topic.arn],
          principals: [{ type: "Service", identifiers: ["ses.amazonaws.com"] }],
          conditions: ruleConditions,
        },
      ],
    }).json,
  });

  const queue = getQueue(INBOUND_MAIL_QUEUE.name);

  const queuePolicy = new aws.sqs.QueuePolicy("InboundMailMayCome", {
    queueUrl: queue.url,
    policy: aws.iam.getPolicyDocumentOutput({
      statements: [
        {
          actions: ["sqs:SendMessage"],
          resources: [queue.arn],
          principals: [{ type: "Service", identifiers: ["sns.amazonaws.com"] }],
          conditions: [{ test: "ArnEquals", variable: "aws:SourceArn", values: [topic.arn] }],
        },
      ],
    }).json,
  });

  const subscription = new aws.sns.TopicSubscription(
    "InboundMailToQueue",
    { topic: topic.arn, protocol: "sqs", endpoint: queue.arn, rawMessageDelivery: true },
    { dependsOn: [queuePolicy] },
  );

  const ruleSet = new aws.ses.ReceiptRuleSet("InboundMailRules", { ruleSetName });

  // SES tries both permissions when the rule is made.
  new aws.ses.ReceiptRule(
    "InboundMailRule",
    {
      name: RULE_NAME,
      ruleSetName: ruleSet.ruleSetName,
      enabled: true,
      recipients: [domain],
      // TLS is optional: a mail test reports its absence, and some receivers send their reports without it.
      tlsPolicy: "Optional",
      // Nobody reads the verdicts of a scan.
      scanEnabled: false,
      s3Actions: [
        { position: 1, bucketName: bucket.name, objectKeyPrefix: INBOUND, topicArn: topic.arn },
      ],
    },
    { dependsOn: [topicPolicy, subscription] },
  );
};

if (mailDomain) createRule(mailDomain);
