import { grantsFor, type Part } from "./needs.ts";
import { guard, network } from "./network.ts";
import { queueNamed } from "./queues.ts";
import * as secrets from "./secrets.ts";
import { isLasting } from "./stage.ts";
import { bucket, table } from "./storage.ts";
import {
  ARCHITECTURE,
  type Lambda,
  LOGS_KEPT,
  prober as proberFacts,
  queues,
  RUNTIME,
} from "./topology.ts";

/** What the deployer's environment, or .env.<stage>, may set. The README's table tells what each means. */
const PASSED_ON = [
  "ACTIVITY_POOL",
  "BARRACUDA_REGISTERED",
  "BLOCKLISTS",
  "BLOCKLIST_DNS_SERVERS",
  "DNS_SERVERS",
  "SES_ACCOUNT",
  "SMTP_FROM",
  "SMTP_HELLO",
];

const settings = {
  KEY_PEPPER: secrets.keyPepper.value,
  CURSOR_SECRET: secrets.cursorSecret.value,
  ACTIVITY_KEY: secrets.activityKey.value,
  SMTP_PROXIES: secrets.smtpProxies.value,
  SPAMHAUS_KEY: secrets.spamhausKey.value,
  ...Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value]] : [];
    }),
  ),
};

/** Where everything is. What of it a Lambda may touch is said by its permissions. */
const places = {
  TABLE_NAME: table.name,
  BUCKET_NAME: bucket.name,
  QUEUE_URLS: $jsonStringify(
    Object.fromEntries(queues.map(({ name }) => [name, queueNamed(name).url])),
  ),
};

const queueArns = (areDead: boolean) =>
  queues
    .filter(({ receivesMax }) => (receivesMax === null) === areDead)
    .map(({ name }) => queueNamed(name).arn);

const ARNS: Readonly<Record<Exclude<Part, "own queue" | "prober">, $util.Input<string>[]>> = {
  table: [table.arn],
  indexes: [$interpolate`${table.arn}/index/*`],
  queues: queueArns(false),
  "dead letters": queueArns(true),
  bucket: [bucket.arn],
  objects: [$interpolate`${bucket.arn}/*`],
};

type Extra = Partial<sst.aws.FunctionArgs>;

/** One Lambda with exactly what it needs. A stage of one's own reserves nothing: a young account has few to give. */
const functionOf = (lambda: Lambda, arns: Record<string, $util.Input<string>[]>, extra: Extra) =>
  new sst.aws.Function(lambda.name, {
    ...extra,
    handler: lambda.handler,
    runtime: RUNTIME,
    architecture: ARCHITECTURE,
    timeout: `${lambda.timeoutSeconds} seconds`,
    memory: `${lambda.memoryMb} MB`,
    logging: { format: "json", retention: LOGS_KEPT },
    nodejs: { minify: true, esbuild: { mainFields: ["module", "main"] } },
    permissions: grantsFor(lambda.needs).map(({ actions, on }) => ({
      actions: [...actions],
      resources: on.flatMap((part) => arns[part] ?? []),
    })),
    transform: { role: onlyLambda, ...extra.transform },
    ...(lambda.reserved !== null &&
      isLasting($app.stage) && { concurrency: { reserved: lambda.reserved } }),
  });

/** SST lets everybody in the account take a Lambda's role; a developer's live session needs that, and nothing else. */
const onlyLambda = (role: aws.iam.RoleArgs): undefined => {
  if ($dev) return;
  role.assumeRolePolicy = aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" });
};

export const prober = functionOf(proberFacts, ARNS, {
  environment: { ...settings, ...places },
  vpc: {
    privateSubnets: network.privateSubnets,
    securityGroups: [guard.id],
  },
});

/** `queue`: the one it works on. */
export const lambdaFor = (lambda: Lambda, { queue, ...extra }: Extra & { queue?: string } = {}) =>
  functionOf(
    lambda,
    { ...ARNS, prober: [prober.arn], "own queue": queue ? [queueNamed(queue).arn] : [] },
    { environment: { ...settings, ...places, PROBER_NAME: prober.name }, ...extra },
  );
