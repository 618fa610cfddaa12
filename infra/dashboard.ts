import { execFileSync } from "node:child_process";
import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  ASSET_CACHE_CONTROL,
  createPagePolicy,
  getContentType,
  PAGE_FILE,
  PAGE_HEADERS,
} from "@mailproof/api/http/dashboard-files";
import { api } from "./api.ts";
import { createRoutingCode } from "./dashboard-routing.ts";
import { bucket as blobs } from "./storage.ts";

// One host for the dashboard and the API, as on one machine: CloudFront sends /app/ to a bucket and everything else to
// API Gateway. Programs may go on calling the API at its own host.

const folder = join($cli.paths.root, ".cache/dashboard", $app.stage);
rmSync(folder, { recursive: true, force: true });
execFileSync("npx", ["node", "packages/dashboard/build.ts", folder], {
  cwd: $cli.paths.root,
  stdio: ["ignore", "ignore", "inherit"],
});
const files = globSync("**/*.*", { cwd: folder });

/** Browsers ask for TLS from the first visit on, for two years. */
const HSTS_SECONDS = 63_072_000;

const account = aws.getCallerIdentityOutput({}).accountId;

/** Only CloudFront reads it, for distributions of this account. */
const bucket = new sst.aws.Bucket("Dashboard", {
  enforceHttps: true,
  cors: false,
  policy: [
    {
      actions: ["s3:GetObject"],
      principals: [{ type: "service", identifiers: ["cloudfront.amazonaws.com"] }],
      conditions: [
        {
          test: "StringLike",
          variable: "AWS:SourceArn",
          values: [$interpolate`arn:aws:cloudfront::${account}:distribution/*`],
        },
      ],
    },
  ],
  // All of it is built again.
  transform: { bucket: { forceDestroy: true } },
});

const upload = (path: string, dependsOn: aws.s3.BucketObjectv2[] = []) =>
  new aws.s3.BucketObjectv2(
    `Dashboard-${path.replaceAll(/\W/g, "-")}`,
    {
      bucket: bucket.name,
      key: `app/${path}`,
      source: $asset(join(folder, path)),
      contentType: getContentType(path),
      cacheControl: path === PAGE_FILE ? PAGE_HEADERS["cache-control"] : ASSET_CACHE_CONTROL,
    },
    // A tab that is open since before the deployment loads the rest of the build that it began with.
    { dependsOn, retainOnDelete: path !== PAGE_FILE },
  );

// The page last: it names the others.
upload(
  PAGE_FILE,
  files.filter((path) => path !== PAGE_FILE).map((path) => upload(path)),
);

const headers = new aws.cloudfront.ResponseHeadersPolicy("DashboardHeaders", {
  securityHeadersConfig: {
    contentSecurityPolicy: {
      // A list is uploaded to S3, by a presigned link.
      contentSecurityPolicy: blobs.nodes.bucket.bucketRegionalDomainName.apply((host) =>
        createPagePolicy(`https://${host}`),
      ),
      override: true,
    },
    contentTypeOptions: { override: true },
    referrerPolicy: { referrerPolicy: PAGE_HEADERS["referrer-policy"], override: true },
    strictTransportSecurity: { accessControlMaxAgeSec: HSTS_SECONDS, override: true },
  },
  customHeadersConfig: {
    items: [
      {
        header: "cross-origin-opener-policy",
        value: PAGE_HEADERS["cross-origin-opener-policy"],
        override: true,
      },
    ],
  },
});

const routing = new aws.cloudfront.Function("DashboardRouting", {
  runtime: "cloudfront-js-2.0",
  code: createRoutingCode(files),
});

const access = new aws.cloudfront.OriginAccessControl("DashboardAccess", {
  originAccessControlOriginType: "s3",
  signingBehavior: "always",
  signingProtocol: "sigv4",
});

/** AWS's own policies. */
const CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6";
const CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";
const ALL_VIEWER_EXCEPT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac";

const associations = [{ eventType: "viewer-request", functionArn: routing.arn }];

/** Nothing of an account stays at the edge. */
const toApi = {
  targetOriginId: "api",
  // A key that was sent without TLS would be read before any redirect.
  viewerProtocolPolicy: "https-only",
  allowedMethods: ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"],
  cachedMethods: ["GET", "HEAD"],
  cachePolicyId: CACHING_DISABLED,
  originRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
};

const toDashboard = {
  targetOriginId: "dashboard",
  viewerProtocolPolicy: "redirect-to-https",
  allowedMethods: ["GET", "HEAD"],
  cachedMethods: ["GET", "HEAD"],
  cachePolicyId: CACHING_OPTIMIZED,
  compress: true,
  responseHeadersPolicyId: headers.id,
  functionAssociations: associations,
};

const domain = process.env["APP_DOMAIN"];

export const front = new sst.aws.Cdn("Front", {
  comment: `${$app.name} ${$app.stage}: the dashboard and the API`,
  ...(domain && { domain }),
  wait: false,
  origins: [
    {
      originId: "api",
      domainName: api.nodes.api.apiEndpoint.apply((url) => new URL(url).host),
      customOriginConfig: {
        httpPort: 80,
        httpsPort: 443,
        originProtocolPolicy: "https-only",
        originSslProtocols: ["TLSv1.2"],
        // Longer than API Gateway waits.
        originReadTimeout: 60,
      },
    },
    {
      originId: "dashboard",
      domainName: bucket.nodes.bucket.bucketRegionalDomainName,
      originAccessControlId: access.id,
    },
  ],
  defaultCacheBehavior: toApi,
  orderedCacheBehaviors: [
    { pathPattern: "/", ...toApi, functionAssociations: associations },
    { pathPattern: "/app", ...toDashboard },
    { pathPattern: "/app/*", ...toDashboard },
  ],
  transform: { distribution: { httpVersion: "http2and3" } },
});
