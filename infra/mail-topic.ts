import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import { getQueue } from "./queues.ts";
import { stageKey } from "./stage-key.ts";

type Conditions = aws.types.input.iam.GetPolicyDocumentStatementConditionArgs[];

type MailTopic = {
  readonly name: string;
  readonly queue: string;
  readonly subscription: string;
  /** The conditions under which SES may publish. */
  readonly conditions: Conditions;
};

/** Amazon SES publishes to this topic, and a queue brings each message to its worker. */
export const createMailTopic = ({ name, queue, subscription, conditions }: MailTopic) => {
  const topic = new aws.sns.Topic(name, stageKey ? { kmsMasterKeyId: stageKey.id } : {});
  const { arn, url } = getQueue(queue);
  const allow = (service: string, action: string, on: $util.Output<string>, when: Conditions) =>
    aws.iam.getPolicyDocumentOutput({
      statements: [
        {
          actions: [action],
          resources: [on],
          principals: [{ type: "Service", identifiers: [`${service}.amazonaws.com`] }],
          conditions: when,
        },
      ],
    }).json;
  const topicPolicy = new aws.sns.TopicPolicy(`${name}Policy`, {
    arn: topic.arn,
    policy: allow("ses", "sns:Publish", topic.arn, conditions),
  });
  const fromTopic = [{ test: "ArnEquals", variable: "aws:SourceArn", values: [topic.arn] }];
  const queuePolicy = new aws.sqs.QueuePolicy(`${name}MayCome`, {
    queueUrl: url,
    policy: allow("sns", "sqs:SendMessage", arn, fromTopic),
  });
  const made = new aws.sns.TopicSubscription(
    subscription,
    { topic: topic.arn, protocol: "sqs", endpoint: arn, rawMessageDelivery: true },
    { dependsOn: [queuePolicy] },
  );
  return { topic, ready: [topicPolicy, made] };
};

const account = aws.getCallerIdentityOutput({}).accountId;

/** The topic for events of Amazon SES. Set it as the event destination of a configuration set. */
export const { topic: feedback } = createMailTopic({
  name: "Feedback",
  queue: ACTIVITY_QUEUE.name,
  subscription: "FeedbackToActivity",
  conditions: [{ test: "StringEquals", variable: "AWS:SourceAccount", values: [account] }],
});
