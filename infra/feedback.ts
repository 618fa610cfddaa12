import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import { createMailTopic } from "./mail-topic.ts";

const account = aws.getCallerIdentityOutput({}).accountId;

/** The topic for events of Amazon SES. Set it as the event destination of a configuration set. */
export const { topic: feedback } = createMailTopic({
  name: "Feedback",
  queue: ACTIVITY_QUEUE.name,
  subscription: "FeedbackToActivity",
  conditions: [{ test: "StringEquals", variable: "AWS:SourceAccount", values: [account] }],
});
