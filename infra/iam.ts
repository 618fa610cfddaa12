import type { Need as CodeNeed } from "@mailproof/core/runtime/need";

/**
 * A need of a Lambda. The deployment adds needs that no endpoint or worker declares: it reads a queue, removes uploads over the
 * limit, checks keys, uses the items of mail hosts, or serves the dashboard.
 */
export type Need =
  | CodeNeed
  | "queue:receive"
  | "uploads:remove"
  | "keys:check"
  | "table:mail-hosts"
  | "dashboard";

/** The resource on which a grant allows its actions. */
export type ResourcePart =
  | "table"
  | "list index"
  | "due index"
  | "queues"
  | "dead letters"
  | "own queue"
  | "bucket"
  | "objects"
  | "uploads"
  | "prober";

/** `partitions`: the grant covers only items with such a partition key. */
export type Grant = {
  readonly actions: readonly string[];
  readonly on: readonly ResourcePart[];
  readonly partitions?: readonly string[];
};

const READ: readonly Grant[] = [
  { actions: ["dynamodb:GetItem"], on: ["table"] },
  { actions: ["dynamodb:Query"], on: ["table", "list index", "due index"] },
];
/** A transaction needs no action of its own: the actions of its writes allow it. */
const WRITE: Grant = {
  actions: [
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
  ],
  on: ["table"],
};
/**
 * Sessions with mail servers use these items: slots, backoffs and circuits, daily limits, catch-all states, canaries, the age of
 * exits, and the mark that DNS is dead. They contain no money, key or job.
 */
const MAIL_HOST_PARTITIONS = ["ASKED#*", "CANARIES", "DOMAIN#*", "EXIT#*", "HEALTH", "PROVIDER#*"];
const JOB_PARTITIONS = ["ADDRESSES#*", "CHUNKS#*", "DEFERRED#*", "INDEX#*", "JOB#*", "RESULTS#*"];
/** The transaction that ends a job changes these, too. */
const MONEY_PARTITIONS = ["BALANCE#*", "CLAIM#*", "EVENT#*", "LEDGER#*", "SPENT#*", "USAGE#*"];
const VERDICT_PARTITIONS = ["CACHED#*", "VERDICT#*", "VERDICTCOUNTS#*"];
/** A worker reads whether the account is active, and where mail of the account bounced. */
const ROW_READS = ["ACCOUNT#*", "SENTTO#*"];

/** The items that a sign-in by passkey reads and changes. */
const PASSKEY_PARTITIONS = ["CHALLENGE#*", "PASSKEY#*", "PERSON#*", "SESSION#*"];

/** Allows these partitions of the table, and no index. */
const limitTo = (written: readonly string[], read: readonly string[] = []): readonly Grant[] => [
  {
    actions: ["dynamodb:GetItem", "dynamodb:Query"],
    on: ["table"],
    partitions: [...written, ...read],
  },
  { ...WRITE, partitions: written },
];
/** Without permission to list, S3 returns 403 for a missing object, the same as for a forbidden one. */
const LIST_BUCKET: Grant = { actions: ["s3:ListBucket"], on: ["bucket"] };

/** X-Ray knows no resources. Lambda itself sends the segments, so no bundle contains a tracer. */
export const TRACING = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"];

/** All permissions on AWS, beside those of tracing. Anything else is refused. */
export const GRANTS: Readonly<Record<Need, readonly Grant[]>> = {
  "table:read": READ,
  "table:readwrite": [...READ, WRITE],
  "table:rows": limitTo(
    [...MAIL_HOST_PARTITIONS, ...JOB_PARTITIONS, ...MONEY_PARTITIONS, ...VERDICT_PARTITIONS],
    ROW_READS,
  ),
  "table:passkeys": limitTo(PASSKEY_PARTITIONS),
  "table:mail-hosts": [
    ...limitTo(MAIL_HOST_PARTITIONS),
    // The open circuits of large mail providers, for the egress test.
    { actions: ["dynamodb:Query"], on: ["list index"], partitions: ["CIRCUITS"] },
  ],
  "queue:send": [{ actions: ["sqs:SendMessage"], on: ["queues"] }],
  "queue:depth": [{ actions: ["sqs:GetQueueAttributes"], on: ["dead letters"] }],
  "queue:receive": [
    {
      actions: [
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
      ],
      on: ["own queue"],
    },
  ],
  "blobs:read": [{ actions: ["s3:GetObject"], on: ["objects"] }, LIST_BUCKET],
  "blobs:write": [
    { actions: ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"], on: ["objects"] },
  ],
  "uploads:remove": [{ actions: ["s3:DeleteObjectVersion"], on: ["uploads"] }],
  // A Lambda outside the VPC calls the prober, which is inside.
  mail: [{ actions: ["lambda:InvokeFunction"], on: ["prober"] }],
  // Its page names the bucket, to which the browser uploads by a presigned link.
  dashboard: [],
  // Secrets arrive as settings, so these needs grant nothing.
  "keys:check": [],
  cursor: [],
  activity: [],
  seal: [],
  oidc: [],
  // Mail servers, name servers and webhooks are on the internet and need no permission of AWS.
  smtp: [],
  lists: [],
  dns: [],
  https: [],
  passkeys: [],
  relay: [],
};

/** The grants of these needs, each once. */
export const listGrants = (needs: readonly Need[]): readonly Grant[] => [
  ...new Set(needs.flatMap((need) => GRANTS[need])),
];

/** The trusted OAuth issuer, and the name of app and stage in logs and metrics; not secret. */
const COMMON_SETTINGS = ["OAUTH_AUDIENCE", "OAUTH_ISSUER", "POWERTOOLS_SERVICE_NAME"];

/** The secrets of accounts, and the need of each. */
const SECRETS: readonly (readonly [name: string, need: Need])[] = [
  ["ACTIVITY_KEY", "activity"],
  ["CURSOR_SECRET", "cursor"],
  ["KEY_PEPPER", "keys:check"],
  ["SEALING_KEY", "seal"],
];

/**
 * A secret that the Lambda does not need. It has a worthless value in its place: release 0.2.0 starts with all four only,
 * and AWS changes the settings of a Lambda before its code.
 */
export const isWithheld = ({ needs }: Pick<EnvironmentInput, "needs">, name: string): boolean =>
  SECRETS.some(([secret, need]) => secret === name && !needs.includes(need));

/** The additional settings of a Lambda that acts for accounts. */
const ACCOUNT_SETTINGS = [
  ...SECRETS.map(([name]) => name),
  "ACTIVITY_POOL",
  "MAIL_DOMAIN",
  "OIDC_CLIENT_ID",
  "OIDC_ISSUER",
  "MAIL_FROM",
  "SES_ACCOUNT",
];

const ENVIRONMENT: Readonly<Record<Need, readonly string[]>> = {
  "keys:check": ["FRONT_SECRET", "KEY_PEPPER", "KEY_PEPPER_BEFORE"],
  cursor: ["CURSOR_SECRET", "CURSOR_SECRET_BEFORE"],
  activity: ["ACTIVITY_KEY", "ACTIVITY_KEY_BEFORE"],
  seal: ["SEALING_KEY", "SEALING_KEY_BEFORE"],
  oidc: ["OIDC_CLIENT_SECRET"],
  "table:read": ["TABLE_NAME"],
  "table:readwrite": ["TABLE_NAME"],
  "table:rows": ["TABLE_NAME"],
  "table:passkeys": ["TABLE_NAME"],
  "table:mail-hosts": ["TABLE_NAME"],
  "queue:send": ["QUEUE_URLS"],
  "queue:depth": ["DEAD_QUEUE_URLS"],
  "queue:receive": [],
  "blobs:read": ["BUCKET_NAME"],
  "blobs:write": ["BUCKET_NAME"],
  "uploads:remove": ["BUCKET_NAME"],
  dashboard: ["BUCKET_NAME", "DASHBOARD"],
  mail: ["DNS_SERVERS", "PROBER_FUNCTION"],
  lists: [],
  smtp: ["DNS_SERVERS", "PROBE_POLICY", "SMTP_FROM", "SMTP_HELLO", "SMTP_PROXIES", "WITNESSES"],
  dns: [
    "BARRACUDA_REGISTERED",
    "BLOCKLISTS",
    "BLOCKLIST_DNS_SERVERS",
    "DKIM_SELECTORS",
    "DNS_SERVERS",
    "SPAMHAUS_KEY",
  ],
  https: ["DNS_SERVERS"],
  passkeys: [],
  relay: ["PUBLIC_URL", "SMTP_URL"],
};

type EnvironmentInput = { readonly needs: readonly Need[]; readonly actsForAccounts: boolean };

/** Lists the settings that a Lambda receives: a Lambda without the need of a secret does not receive it. */
export const listSettings = ({ needs, actsForAccounts }: EnvironmentInput): readonly string[] => [
  ...new Set([
    ...COMMON_SETTINGS,
    ...(actsForAccounts ? ACCOUNT_SETTINGS : []),
    ...needs.flatMap((need) => ENVIRONMENT[need]),
  ]),
];
