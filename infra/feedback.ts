import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import { getQueue } from "./queues.ts";

// The topic for events of Amazon SES. Set it as the event destination of a configuration set.

const account = aws.getCallerIdentityOutput({}).accountId;

export const feedback = new aws.sns.Topic("Feedback");

new aws.sns.TopicPolicy("FeedbackPolicy", {
  arn: feedback.arn,
  policy: aws.iam.getPolicyDocumentOutput({
    statements: [
      {
        actions: ["sns:Publish"],
        resources: [feedback.arn],
        principals: [{ type: "Service", identifiers: ["ses.amazonaws.com"] }],
        conditions: [{ test: "StringEquals", variable: "AWS:SourceAccount", values: [account] }],
      },
    ],
  }).json,
});

const queue = getQueue(ACTIVITY_QUEUE.name);

const queuePolicy = new aws.sqs.QueuePolicy("FeedbackMayCome", {
  queueUrl: queue.url,
  policy: aws.iam.getPolicyDocumentOutput({
    statements: [
      {
        actions: ["sqs:SendMessage"],
        resources: [queue.arn],
        principals: [{ type: "Service", identifiers: ["sns.amazonaws.com"] }],
        conditions: [{ test: "ArnEquals", variable: "aws:SourceArn", values: [feedback.arn] }],
      },
    ],
  }).json,
});

new aws.sns.TopicSubscription(
  "FeedbackToActivity",
  { topic: feedback.arn, protocol: "sqs", endpoint: queue.arn, rawMessageDelivery: true },
  { dependsOn: [queuePolicy] },
);
