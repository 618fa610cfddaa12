import { createHmac } from "node:crypto";
import { listFrontSecrets } from "@mailproof/functions/front";
import { getQueueSetting, WITHHELD } from "@mailproof/functions/settings";
import { getBundle } from "./bundles.ts";
import { proxies } from "./exits.ts";
import { isWithheld, listGrants, listSettings, type ResourcePart, TRACING } from "./iam.ts";
import { network } from "./network.ts";
import { toServiceName } from "./parameters.ts";
import { getQueue } from "./queues.ts";
import { mayReserve } from "./quota.ts";
import * as secrets from "./secrets.ts";
import { settings } from "./stage.ts";
import { stageKey } from "./stage-key.ts";
import { bucket, table } from "./storage.ts";
import {
  ARCHITECTURE,
  isInNetwork,
  type Lambda,
  LIVE,
  LOG_RETENTION,
  lambdas,
  prober as proberLambda,
  queues,
  RUNTIME,
  released,
  UPLOADS,
} from "./topology.ts";

/** The settings that the deployer's environment or .env.<stage> may contain. docs/settings.md explains each. */
const PASSED_THROUGH = [
  "ACTIVITY_POOL",
  "BARRACUDA_REGISTERED",
  "BLOCKLISTS",
  "BLOCKLIST_DNS_SERVERS",
  "DKIM_SELECTORS",
  "DNS_SERVERS",
  "MAIL_DOMAIN",
  "OAUTH_AUDIENCE",
  "OAUTH_ISSUER",
  "OIDC_CLIENT_ID",
  "OIDC_ISSUER",
  "PROBE_POLICY",
  "PUBLIC_URL",
  "SES_ACCOUNT",
  "SMTP_FROM",
  "SMTP_HELLO",
  "WITNESSES",
];

/** Links in mails lead to PUBLIC_URL. */
const readMailFrom = (): string => {
  const { MAIL_FROM: from, PUBLIC_URL: url } = process.env;
  if (from && url) return from;
  throw new Error(`The secret SmtpUrl needs MAIL_FROM and PUBLIC_URL in .env.${$app.stage}.`);
};

type Settings = Readonly<Record<string, $util.Input<string>>>;

/** QUEUE_URL_CHUNKS, QUEUE_URL_CHUNKS_DEAD. */
const createQueueSettings = (areDead: boolean): Settings =>
  Object.fromEntries(
    listQueueNames(areDead).map((name) => [getQueueSetting(name), getQueue(name).url]),
  );

const listQueueNames = (areDead: boolean) =>
  queues.filter(({ receivesMax }) => (receivesMax === null) === areDead).map(({ name }) => name);

const createSetting = (
  name: string,
  value: $util.Input<string> | undefined,
): [string, Settings] => [name, value ? { [name]: value } : {}];

/** Every setting, and its environment variables. */
const SETTINGS = new Map<string, Settings>([
  createSetting("POWERTOOLS_SERVICE_NAME", toServiceName($app.name, $app.stage)),
  createSetting("KEY_PEPPER", secrets.keyPepper.value),
  createSetting("KEY_PEPPER_BEFORE", secrets.keyPepperBefore.value),
  createSetting("CURSOR_SECRET", secrets.cursorSecret.value),
  createSetting("CURSOR_SECRET_BEFORE", secrets.cursorSecretBefore.value),
  createSetting("ACTIVITY_KEY", secrets.activityKey.value),
  createSetting("ACTIVITY_KEY_BEFORE", secrets.activityKeyBefore.value),
  createSetting("SEALING_KEY", secrets.sealingKey.value),
  createSetting("SEALING_KEY_BEFORE", secrets.sealingKeyBefore.value),
  createSetting(
    "FRONT_SECRET",
    settings.dashboard === "cloudfront"
      ? $util
          .all([secrets.sealingKey.value, secrets.sealingKeyBefore.value])
          .apply(listFrontSecrets)
      : "",
  ),
  createSetting("OIDC_CLIENT_SECRET", secrets.oidcClientSecret.value),
  createSetting("SMTP_PROXIES", proxies),
  createSetting("SMTP_URL", secrets.smtpUrl.value),
  // Without a relay no Lambda queues a mail.
  createSetting(
    "MAIL_FROM",
    secrets.smtpUrl.value.apply((url) => (url ? readMailFrom() : "")),
  ),
  createSetting("SPAMHAUS_KEY", secrets.spamhausKey.value),
  createSetting("TABLE_NAME", table.name),
  createSetting("BUCKET_NAME", bucket.name),
  createSetting("DASHBOARD", settings.dashboard),
  ["QUEUE_URLS", createQueueSettings(false)],
  ["DEAD_QUEUE_URLS", createQueueSettings(true)],
  ...PASSED_THROUGH.map((name) => createSetting(name, process.env[name])),
]);

const buildEnvironment = (lambda: Lambda): Record<string, $util.Input<string>> =>
  Object.assign(
    {},
    ...listSettings(lambda).map((name) =>
      isWithheld(lambda, name) ? { [name]: withhold(name) } : getSetting(name),
    ),
  );

/** Replaces a secret. It depends on the sealing key, so nobody can guess a value that earlier code derives from it. */
const withhold = (name: string) =>
  secrets.sealingKey.value.apply(
    (key) => `${WITHHELD}${createHmac("sha256", key).update(`instead of ${name}`).digest("hex")}`,
  );

const getSetting = (name: string): Settings => {
  const setting = SETTINGS.get(name);
  if (!setting) throw new Error(`infra/functions.ts has no setting ${name}.`);
  return setting;
};

const listQueueArns = (areDead: boolean) =>
  listQueueNames(areDead).map((name) => getQueue(name).arn);

const ARNS: Readonly<Record<Exclude<ResourcePart, "own queue" | "prober">, $util.Input<string>[]>> =
  {
    table: [table.arn],
    "list index": [$interpolate`${table.arn}/index/list`],
    "due index": [$interpolate`${table.arn}/index/due`],
    queues: listQueueArns(false),
    "dead letters": listQueueArns(true),
    bucket: [bucket.arn],
    objects: [$interpolate`${bucket.arn}/*`],
    uploads: [$interpolate`${bucket.arn}/${UPLOADS}*`],
  };

type Extra = Partial<sst.aws.FunctionArgs>;

/** A new AWS account may run 10 Lambdas at once. Without a reservation only its queue limits a worker. */
const isReserved = mayReserve(settings.quota, lambdas);

/** Creates a Lambda with the settings and permissions of its needs, and no others. */
const createFunction = (
  lambda: Lambda,
  arns: Record<string, $util.Input<string>[]>,
  extra: Extra,
) =>
  new sst.aws.Function(lambda.name, {
    ...extra,
    environment: buildEnvironment(lambda),
    ...(isInNetwork(lambda) && network && { vpc: network }),
    handler: lambda.handler,
    runtime: RUNTIME,
    architecture: ARCHITECTURE,
    timeout: `${lambda.timeoutSeconds} seconds`,
    memory: `${lambda.memoryMb} MB`,
    logging: { format: "json", retention: LOG_RETENTION },
    ...getBundle(lambda),
    permissions: [
      ...listGrants(lambda.needs).map(({ actions, on, partitions }) => ({
        actions: [...actions],
        resources: on.flatMap((part) => arns[part] ?? []),
        ...(partitions && { conditions: [limitTo(partitions)] }),
      })),
      ...(settings.isTraced ? [{ actions: [...TRACING], resources: ["*"] }] : []),
    ],
    transform: {
      role: restrictToLambda,
      function: (args: aws.lambda.FunctionArgs) => {
        if (stageKey && lambda.actsForAccounts) args.kmsKeyArn = stageKey.arn;
        args.publish = isInSteps(lambda);
        if (settings.isTraced) args.tracingConfig = { mode: "Active" };
      },
      ...extra.transform,
    },
    ...(lambda.reserved !== null && isReserved && { concurrency: { reserved: lambda.reserved } }),
  });

const limitTo = (partitions: readonly string[]) => ({
  test: "ForAllValues:StringLike",
  variable: "dynamodb:LeadingKeys",
  values: [...partitions],
});

/** SST lets every principal of the account assume a Lambda's role; only a developer's live session needs that. */
const restrictToLambda = (role: aws.iam.RoleArgs): undefined => {
  if ($dev) return;
  role.assumeRolePolicy = aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" });
};

export const prober = createFunction(proberLambda, ARNS, {});
SETTINGS.set(...createSetting("PROBER_FUNCTION", prober.name));

/** A live session replaces Lambdas by bridges, which have no versions. */
const isInSteps = (lambda: Lambda): boolean => !$dev && released.includes(lambda);

/** The newest version of each Lambda that is released in steps, by its name. */
export const versions = new Map<string, $util.Output<string>>();

/** The ARN that callers and queues have. Pulumi makes the alias, and only a release moves it. */
export const getLiveArn = (lambda: Lambda, made: sst.aws.Function): $util.Output<string> => {
  if (!isInSteps(lambda)) return made.arn;
  const { version } = made.nodes.function;
  versions.set(lambda.name, version);
  return new aws.lambda.Alias(
    `${lambda.name}Live`,
    { name: LIVE, functionName: made.name, functionVersion: version },
    { ignoreChanges: ["functionVersion", "routingConfig"] },
  ).arn;
};

/** `queue`: the queue that the Lambda consumes. */
export const createLambda = (
  lambda: Lambda,
  { queue, ...extra }: Extra & { queue?: string } = {},
) =>
  createFunction(
    lambda,
    { ...ARNS, prober: [prober.arn], "own queue": queue ? [getQueue(queue).arn] : [] },
    extra,
  );
