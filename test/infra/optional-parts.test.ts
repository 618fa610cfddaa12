import { runInNewContext } from "node:vm";
import { deriveFrontSecret, FRONT_HEADER, FRONT_HOST_HEADER } from "@mailproof/functions/front";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { beforeAll, describe, expect, test } from "vitest";
import { createCloudInit } from "../../infra/cloud-init.ts";
import { isSecret, look, parseStatements } from "./queries.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

describe("CloudFront", () => {
  // CloudFront, for those who want it: everything is the API's, and the dashboard's assets stay near people.

  const CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/1a2b-3c4d";

  const WEB_ACL = "arn:aws:wafv2:us-east-1:123456789012:global/webacl/ours/1a2b";
  let it: ReturnType<typeof look>;

  beforeAll(async () => {
    it = look(
      await synthesise("production", {
        DASHBOARD: "cloudfront",
        APP_DOMAIN: "app.example.com",
        APP_CERTIFICATE: CERTIFICATE,
        WEB_ACL,
        SST_SECRET_SealingKeyBefore: "the sealing key before",
      }),
    );
  });

  type Behaviour = Readonly<Record<string, unknown>>;
  const getDistribution = () => {
    const [one] = it.inputsOf("aws:cloudfront/distribution:Distribution");
    return one as {
      /** Kept out of logs and state, since a header of theirs is. */
      readonly origins: { readonly value: readonly Readonly<Record<string, any>>[] };
      readonly defaultCacheBehavior: Behaviour;
      readonly orderedCacheBehaviors: readonly Behaviour[];
      readonly customErrorResponses?: unknown;
      readonly loggingConfig?: unknown;
    };
  };
  const CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";

  test("CloudFront requests all but the assets from the API, with every method and without a cache", () => {
    const { defaultCacheBehavior, orderedCacheBehaviors, origins } = getDistribution();

    expect(isSecret(origins)).toBe(true);
    expect(origins.value).toMatchObject([
      {
        originId: "api",
        domainName: "api.example.com",
        customOriginConfig: { originProtocolPolicy: "https-only" },
        customHeaders: [
          { name: FRONT_HEADER, value: deriveFrontSecret("a sealing key for the tests") },
        ],
      },
    ]);
    const before = deriveFrontSecret("the sealing key before");
    expect(JSON.stringify(it.settingsOf("HttpListJobs"))).toContain(`,${before}`);
    expect(defaultCacheBehavior).toMatchObject({
      targetOriginId: "api",
      viewerProtocolPolicy: "https-only",
      cachePolicyId: CACHING_DISABLED,
    });
    expect(defaultCacheBehavior["allowedMethods"]).toHaveLength(7);
    expect(
      orderedCacheBehaviors.map(({ pathPattern, cachePolicyId }) => [
        pathPattern,
        cachePolicyId === CACHING_DISABLED,
      ]),
    ).toEqual([
      ["/", true],
      ["/app/assets/*", false],
      ["/app/*", true],
    ]);
  });

  test("CloudFront forwards cookies and headers to the API, with the host name that the client called", () => {
    const { defaultCacheBehavior } = getDistribution();
    const [copy] = it.inputsOf("aws:cloudfront/function:Function");
    const handler = runInNewContext(`${copy?.["code"]}; handler`);
    const request = { headers: { host: { value: "app.example.com" }, cookie: { value: "a=1" } } };

    expect(defaultCacheBehavior).toMatchObject({
      // Of AWS: all headers, cookies and parameters of the viewer, and those of a function, but Host.
      originRequestPolicyId: "b689b0a8-53d0-40ab-baf2-68738e2966ac",
      functionAssociations: [{ eventType: "viewer-request" }],
    });
    expect(handler({ request }).headers).toEqual({
      ...request.headers,
      [FRONT_HOST_HEADER]: { value: "app.example.com" },
    });
  });

  test("CloudFront uses its owner's firewall", () => {
    expect(getDistribution()).toMatchObject({ webAclId: WEB_ACL });
  });

  test("CloudFront serves APP_DOMAIN with the owner's certificate, and the stage creates no other", () => {
    expect(getDistribution()).toMatchObject({
      aliases: ["app.example.com"],
      viewerCertificate: { acmCertificateArn: CERTIFICATE },
    });
    expect(it.all.filter(({ type }) => /aws:(?:route53|acm)\//.test(type))).toEqual([]);
  });

  test("CloudFront passes the API's refusals unchanged and logs no client's address", () => {
    const { customErrorResponses, loggingConfig } = getDistribution();

    expect(customErrorResponses).toBeUndefined();
    expect(loggingConfig).toBeUndefined();
  });
});

describe("a stage's own exits", () => {
  // A stage with exits of its own: machines with an address each, which its Lambdas, and nobody else, use.

  let made: Synthesis;
  let it: ReturnType<typeof look>;

  beforeAll(async () => {
    made = await synthesise("production", {
      EXITS: "2",
      STAGE_SIZE: "lean",
      VPC: "own",
      SMTP_HELLO: "probe.example.com",
    });
    it = look(made);
  });

  const listExits = () =>
    it.of("aws:ec2/instance:Instance").filter(({ name }) => name.startsWith("Exit"));

  test("a stage creates the configured number of small exits, each with an address that outlives it", () => {
    expect(listExits().map(({ inputs }) => inputs["instanceType"])).toEqual([
      "t4g.nano",
      "t4g.nano",
    ]);
    expect(
      it
        .of("aws:ec2/eip:Eip")
        .filter(({ name }) => name.startsWith("Exit"))
        .map(({ inputs }) => inputs["networkInterface"]),
    ).toEqual(["Exit1Card-id", "Exit2Card-id"]);
  });

  test("an exit accepts only the Lambdas that talk to mail servers and connects only to ports 25, 80 and 443", () => {
    const [guard] = it
      .of("aws:ec2/securityGroup:SecurityGroup")
      .filter(({ name }) => name === "ExitGuard");

    expect(guard?.inputs["ingress"]).toEqual([
      { protocol: "tcp", fromPort: 1080, toPort: 1080, securityGroups: ["EgressGuard-id"] },
    ]);
    expect(
      guard?.inputs["egress"].map(({ fromPort, toPort }: Record<string, number>) => [
        fromPort,
        toPort,
      ]),
    ).toEqual([
      [25, 25],
      [80, 80],
      [443, 443],
    ]);
  });

  test("a stage starts each exit with the files of deploy/exit", () => {
    for (const { inputs } of listExits()) {
      expect(inputs["userData"]).toBe(
        createCloudInit(
          "HELO=probe.example.com\nADDRESS=203.0.113.10\nALLOW=10.0.0.0/16\nPASSWORD=drawn\n",
        ),
      );
      expect(inputs["metadataOptions"]).toMatchObject({ httpTokens: "required" });
    }
  });

  test("a stage uses its exits beside the operator's proxies and publishes their addresses", () => {
    const own = "socks5://mailproof:drawn@10.0.0.5:1080";

    expect(it.settingsOf("Prober")["SMTP_PROXIES"]).toBe(
      `socks5://user:pass@192.0.2.1:1080,${own},${own}`,
    );
    // The provider keeps every value secret.
    expect(it.inputsOf("aws:ssm/parameter:Parameter")).toContainEqual(
      expect.objectContaining({
        name: "/mailproof/production/exits",
        value: expect.objectContaining({ value: "203.0.113.10,203.0.113.10" }),
      }),
    );
  });
});

describe("the mail of a stage", () => {
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
});
