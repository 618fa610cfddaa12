import { queueSetting } from "@mailproof/functions/settings";
import { bundleOf } from "./bundles.ts";
import { grantsFor, type Part, settingsFor } from "./needs.ts";
import { guard, network } from "./network.ts";
import { queueNamed } from "./queues.ts";
import * as secrets from "./secrets.ts";
import { isLasting } from "./stage.ts";
import { bucket, table } from "./storage.ts";
import {
  ARCHITECTURE,
  isInNetwork,
  type Lambda,
  LOGS_KEPT,
  prober as proberFacts,
  queues,
  RUNTIME,
} from "./topology.ts";

/** What the deployer's environment, or .env.<stage>, may set. The table of settings tells what each means. */
const PASSED_ON = [
  "ACTIVITY_POOL",
  "BARRACUDA_REGISTERED",
  "BLOCKLISTS",
  "BLOCKLIST_DNS_SERVERS",
  "DNS_SERVERS",
  "OAUTH_AUDIENCE",
  "OAUTH_ISSUER",
  "SES_ACCOUNT",
  "SMTP_FROM",
  "SMTP_HELLO",
];

type Settings = Readonly<Record<string, $util.Input<string>>>;

/** QUEUE_URL_CHUNKS, QUEUE_URL_CHUNKS_DEAD. */
const queueSettings = (areDead: boolean): Settings =>
  Object.fromEntries(namesOf(areDead).map((name) => [queueSetting(name), queueNamed(name).url]));

const namesOf = (areDead: boolean) =>
  queues.filter(({ receivesMax }) => (receivesMax === null) === areDead).map(({ name }) => name);

const one = (name: string, value: $util.Input<string> | undefined): [string, Settings] => [
  name,
  value ? { [name]: value } : {},
];

/** Every setting there is, and how a Lambda is told it. */
const SETTINGS = new Map<string, Settings>([
  one("KEY_PEPPER", secrets.keyPepper.value),
  one("CURSOR_SECRET", secrets.cursorSecret.value),
  one("ACTIVITY_KEY", secrets.activityKey.value),
  one("SEALING_KEY", secrets.sealingKey.value),
  one("SMTP_PROXIES", secrets.smtpProxies.value),
  one("SPAMHAUS_KEY", secrets.spamhausKey.value),
  one("TABLE_NAME", table.name),
  one("BUCKET_NAME", bucket.name),
  ["QUEUE_URLS", queueSettings(false)],
  ["DEAD_QUEUE_URLS", queueSettings(true)],
  ...PASSED_ON.map((name) => one(name, process.env[name])),
]);

const environmentOf = (lambda: Lambda): Record<string, $util.Input<string>> =>
  Object.assign({}, ...settingsFor(lambda).map(settingNamed));

const settingNamed = (name: string): Settings => {
  const told = SETTINGS.get(name);
  if (!told) throw new Error(`infra/functions.ts has no setting ${name}.`);
  return told;
};

const queueArns = (areDead: boolean) => namesOf(areDead).map((name) => queueNamed(name).arn);

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
    environment: environmentOf(lambda),
    ...(isInNetwork(lambda) && {
      vpc: { privateSubnets: network.privateSubnets, securityGroups: [guard.id] },
    }),
    handler: lambda.handler,
    runtime: RUNTIME,
    architecture: ARCHITECTURE,
    timeout: `${lambda.timeoutSeconds} seconds`,
    memory: `${lambda.memoryMb} MB`,
    logging: { format: "json", retention: LOGS_KEPT },
    ...bundleOf(lambda),
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

export const prober = functionOf(proberFacts, ARNS, {});
SETTINGS.set(...one("PROBER_FUNCTION", prober.name));

/** `queue`: the one it works on. */
export const lambdaFor = (lambda: Lambda, { queue, ...extra }: Extra & { queue?: string } = {}) =>
  functionOf(
    lambda,
    { ...ARNS, prober: [prober.arn], "own queue": queue ? [queueNamed(queue).arn] : [] },
    extra,
  );
