import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { beforeAll, expect, test } from "vitest";
import { look, parseStatements } from "./queries.ts";
import { synthesise } from "./synthesise.ts";

// A stage with MAIL_DOMAIN: Amazon SES receives its mail.

let it: ReturnType<typeof look>;

beforeAll(async () => {
  it = look(await synthesise("production", { MAIL_DOMAIN: "Mail.Example.com" }));
});

const ARN = "arn:aws:";
const OF_RULE = [
  { test: "StringEquals", variable: "aws:SourceAccount", values: ["123456789012"] },
  {
    test: "StringEquals",
    variable: "aws:SourceArn",
    values: [
      `${ARN}ses:eu-west-1:123456789012:receipt-rule-set/mailproof-production:receipt-rule/receive`,
    ],
  },
];
const TOPIC = `${ARN}sns:eu-west-1:123456789012:InboundMail`;
const QUEUE = `${ARN}sqs:eu-west-1:123456789012:QueueInboundMailQueue`;

test("SES stores mail for the domain, with or without TLS, and publishes its envelope", () => {
  expect(it.inputsOf("aws:ses/receiptRuleSet:ReceiptRuleSet")).toEqual([
    { ruleSetName: "mailproof-production" },
  ]);
  expect(it.inputsOf("aws:ses/receiptRule:ReceiptRule")).toEqual([
    {
      name: "receive",
      ruleSetName: "mailproof-production",
      enabled: true,
      recipients: ["mail.example.com"],
      tlsPolicy: "Optional",
      scanEnabled: false,
      s3Actions: [
        {
          position: 1,
          bucketName: expect.stringContaining("blobsbucket"),
          objectKeyPrefix: "inbound/",
          topicArn: TOPIC,
        },
      ],
    },
  ]);
});

test("a deployment activates no rule set, since the active one may belong to another service", () => {
  expect(it.of("aws:ses/activeReceiptRuleSet:ActiveReceiptRuleSet")).toEqual([]);
});

test("SES may write files only below inbound/ and only by this rule", () => {
  const policies = it.inputsOf("aws:s3/bucketPolicy:BucketPolicy");
  const allowed = policies
    .flatMap(({ policy }) => parseStatements(policy))
    .filter(({ effect }) => effect?.toLowerCase() !== "deny")
    .filter(({ principals }) => principals?.[0]?.identifiers.includes("ses.amazonaws.com"));

  expect(allowed).toMatchObject([
    {
      actions: ["s3:PutObject"],
      resources: [`${ARN}s3:eu-west-1:123456789012:BlobsBucket/inbound/*`],
      conditions: OF_RULE,
    },
  ]);
});

test("a topic, which only this rule may use, sends the envelope to the worker's queue", () => {
  const topics = it.inputsOf("aws:sns/topicPolicy:TopicPolicy");
  const queues = it.inputsOf("aws:sqs/queuePolicy:QueuePolicy");

  expect(
    topics
      .flatMap(({ policy }) => parseStatements(policy))
      .filter(({ resources }) => resources.includes(TOPIC)),
  ).toMatchObject([{ actions: ["sns:Publish"], conditions: OF_RULE }]);
  expect(
    queues
      .flatMap(({ policy }) => parseStatements(policy))
      .filter(({ resources }) => resources.includes(QUEUE)),
  ).toMatchObject([
    {
      actions: ["sqs:SendMessage"],
      conditions: [{ test: "ArnEquals", variable: "aws:SourceArn", values: [TOPIC] }],
    },
  ]);
  expect(it.inputsOf("aws:sns/topicSubscription:TopicSubscription")).toContainEqual({
    topic: TOPIC,
    protocol: "sqs",
    endpoint: QUEUE,
    rawMessageDelivery: true,
  });
});

const OF_LAMBDA = {
  AWS_REGION: "eu-west-1",
  AWS_ACCESS_KEY_ID: "of its role",
  AWS_SECRET_ACCESS_KEY: "of its role",
};

test("every Lambda that creates or reads a mail address receives the mail domain", () => {
  const names = ["HttpCreateMailTest", "HttpGetDomainReports", "HttpMcp", "WorkerInboundMail"];
  const found = names.map((name) => {
    const settings = { ...it.settingsOf(name), ...OF_LAMBDA };
    return createLambdaWorld([], settings).settings.mailDomain;
  });

  expect(new Set(found)).toEqual(new Set(["mail.example.com"]));
  expect(it.settingsOf("Prober")).not.toHaveProperty("MAIL_DOMAIN");
});
