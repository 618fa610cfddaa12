import { BLOB_CORS } from "@mailproof/api/http/cors";
import type { RetentionPrefix } from "@mailproof/core/ports/blobs";
import { isPermanent } from "./lifecycle.ts";
import { INBOUND, mailDomain, ruleConditions } from "./mail-rule.ts";
import { settings } from "./stage.ts";
import { blobRetentionDays, table as shape } from "./topology.ts";

const isRetained = isPermanent($app.stage);

const indexes = Object.entries(shape.indexes);
const keys = [shape, ...Object.values(shape.indexes)].flatMap(({ pk, sk }) => [pk, sk]);

/** Encrypted with a KMS key of the account, so CloudTrail shows who used it. Production is recoverable to any second. */
const createTable = () =>
  new sst.aws.Dynamo("Table", {
    fields: Object.fromEntries(keys.map((key) => [key, "string" as const])),
    primaryIndex: { hashKey: shape.pk, rangeKey: shape.sk },
    globalIndexes: Object.fromEntries(
      indexes.map(([name, { pk, sk }]) => [name, { hashKey: pk, rangeKey: sk }]),
    ),
    ttl: shape.ttl,
    deletionProtection: isRetained,
    transform: {
      table: {
        pointInTimeRecovery: {
          enabled: isRetained,
          recoveryPeriodInDays: isRetained ? 35 : undefined,
        },
        serverSideEncryption: { enabled: true },
      },
    },
  });

/** With TABLE_NAME the stage uses an existing table, such as a restored one, and does not change its own. */
const own = createTable();
export const table =
  settings.tableName === null ? own : sst.aws.Dynamo.get("UsedTable", settings.tableName);

/**
 * Uploads, inputs and exports. Browsers use presigned URLs, so any origin is allowed; there is no other public access.
 * Versioning keeps overwritten and deleted objects for a week.
 */
export const bucket = new sst.aws.Bucket("Blobs", {
  enforceHttps: true,
  versioning: true,
  cors: {
    allowOrigins: [...BLOB_CORS.allowOrigins],
    allowMethods: [...BLOB_CORS.allowMethods],
    allowHeaders: [...BLOB_CORS.allowHeaders],
    exposeHeaders: [...BLOB_CORS.exposeHeaders],
    maxAge: `${BLOB_CORS.maxAgeSeconds} seconds`,
  },
  policy: mailDomain
    ? [
        {
          principals: [{ type: "service", identifiers: ["ses.amazonaws.com"] }],
          actions: ["s3:PutObject"],
          paths: [`${INBOUND}*`],
          conditions: ruleConditions,
        },
      ]
    : [],
  lifecycle: Object.entries(blobRetentionDays).map(([prefix, days]) => ({
    id: prefix.replaceAll("/", ""),
    prefix,
    expiresIn: `${days} days` as const,
  })),
  transform: {
    bucket: { forceDestroy: !isRetained },
    lifecycle: (args) => {
      args.rules = $output(args.rules).apply((rules = []) => [...rules, ...CLEANUP_RULES]);
    },
  },
});

const VERSION_RETENTION_DAYS = 7;

/** Mails contain private text and are useless once a worker has read them. S3 follows the shorter of two rules. */
const createMailRule = (prefix: RetentionPrefix) => ({
  id: `clearing-${prefix.replaceAll("/", "")}`,
  status: "Enabled",
  filter: { prefix },
  noncurrentVersionExpiration: { noncurrentDays: 1 },
});

/** Deletes older versions, delete markers and parts of unfinished uploads, which an expiry leaves behind. */
const CLEANUP_RULES = [
  ...(["mail/", "inbound/"] as const).map(createMailRule),
  {
    id: "clearing",
    status: "Enabled",
    filter: { prefix: "" },
    noncurrentVersionExpiration: { noncurrentDays: VERSION_RETENTION_DAYS },
    expiration: { expiredObjectDeleteMarker: true },
    abortIncompleteMultipartUpload: { daysAfterInitiation: 1 },
  },
];

new aws.s3.BucketServerSideEncryptionConfiguration("BlobsEncryption", {
  bucket: bucket.name,
  rules: [{ applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } }],
});
