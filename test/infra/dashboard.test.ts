import { runInThisContext } from "node:vm";
import { createPagePolicy, PAGE_HEADERS } from "@mailproof/api/http/dashboard-files";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { beforeAll, describe, expect, test } from "vitest";
import { createRoutingCode } from "../../infra/dashboard-routing.ts";
import { look, parseStatements } from "./queries.ts";
import { synthesise } from "./synthesise.ts";

// The dashboard on AWS: CloudFront sends /app/ to a bucket and everything else to the API.

let it: ReturnType<typeof look>;

beforeAll(async () => {
  it = look(await synthesise("production", { APP_DOMAIN: "" }));
});

type Behaviour = Readonly<Record<string, unknown>>;
const getDistribution = () => {
  const [one] = it.inputsOf("aws:cloudfront/distribution:Distribution");
  return one as {
    readonly origins: readonly Readonly<Record<string, any>>[];
    readonly defaultCacheBehavior: Behaviour;
    readonly orderedCacheBehaviors: readonly Behaviour[];
    readonly customErrorResponses?: unknown;
    readonly loggingConfig?: unknown;
  };
};
/** Where a presigned link leads. */
const findFilesOrigin = async () => {
  const [blobs] = it.of("aws:s3/bucket:Bucket").filter(({ name }) => name.startsWith("Blobs"));
  const aws = {
    region: "eu-west-1",
    credentials: { accessKeyId: "AKIA", secretAccessKey: "secret" },
    endpoints: {},
    transport: () => Promise.reject(new Error("signing sends nothing")),
    now: () => new Date(),
    random: Math.random,
    sleep: () => Promise.resolve(),
  };
  const bucket = String(blobs?.inputs["bucket"] ?? blobs?.name);
  const { url } = await createS3Blobs(aws, bucket).presignPut("uploads/list.csv", {
    expiresInSeconds: 60,
    bytesMax: 1_000,
  });
  return new URL(url).origin;
};
const OBJECT = "aws:s3/bucketObjectv2:BucketObjectv2";
const CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";

test("/app/ is from the bucket, and everything else from the API, with every method and without a cache", () => {
  const { defaultCacheBehavior, orderedCacheBehaviors, origins } = getDistribution();

  expect(
    orderedCacheBehaviors.map(({ pathPattern, targetOriginId }) => [pathPattern, targetOriginId]),
  ).toEqual([
    ["/", "api"],
    ["/app", "dashboard"],
    ["/app/*", "dashboard"],
  ]);
  expect(defaultCacheBehavior).toMatchObject({
    targetOriginId: "api",
    viewerProtocolPolicy: "https-only",
    cachePolicyId: CACHING_DISABLED,
  });
  expect(defaultCacheBehavior["allowedMethods"]).toHaveLength(7);
  expect(origins).toMatchObject([
    {
      originId: "api",
      domainName: "api.example.com",
      customOriginConfig: { originProtocolPolicy: "https-only" },
    },
    { originId: "dashboard", originAccessControlId: expect.any(String) },
  ]);
});

test("a refusal of the API arrives as it is, and no client's address is logged", () => {
  const { customErrorResponses, loggingConfig } = getDistribution();

  expect(customErrorResponses).toBeUndefined();
  expect(loggingConfig).toBeUndefined();
});

test("files with a hash in their name stay for a year, and the page is asked for each time", () => {
  const objects = it
    .inputsOf(OBJECT)
    .map(({ key, cacheControl, contentType }) => ({ key, cacheControl, contentType }));

  const page = objects.filter(({ key }) => key === "app/index.html");
  expect(page).toEqual([
    { key: "app/index.html", cacheControl: "no-cache", contentType: "text/html; charset=utf-8" },
  ]);
  const assets = objects.filter(({ key }) => String(key).startsWith("app/assets/"));
  expect(assets.length).toBeGreaterThan(5);
  for (const { cacheControl } of assets)
    expect(cacheControl).toBe("public, max-age=31536000, immutable");
  expect(objects.filter((one) => one.contentType === "application/octet-stream")).toEqual([]);
});

test("the page has the headers that one machine sends", async () => {
  const [policy] = it.inputsOf("aws:cloudfront/responseHeadersPolicy:ResponseHeadersPolicy");

  expect(policy).toMatchObject({
    securityHeadersConfig: {
      contentSecurityPolicy: {
        contentSecurityPolicy: createPagePolicy(await findFilesOrigin()),
        override: true,
      },
      contentTypeOptions: { override: true },
      referrerPolicy: { referrerPolicy: "no-referrer" },
      strictTransportSecurity: { accessControlMaxAgeSec: expect.any(Number) },
    },
    customHeadersConfig: {
      items: [{ header: "cross-origin-opener-policy", value: "same-origin" }],
    },
  });
  expect(PAGE_HEADERS["content-security-policy"]).toContain("require-trusted-types-for 'script'");
  const { defaultCacheBehavior, orderedCacheBehaviors } = getDistribution();
  const withHeaders = [defaultCacheBehavior, ...orderedCacheBehaviors].filter(
    ({ responseHeadersPolicyId }) => responseHeadersPolicyId !== undefined,
  );
  expect(withHeaders.map(({ pathPattern }) => pathPattern)).toEqual(["/app", "/app/*"]);
});

test("a list is uploaded to S3 by the page: its policy allows that bucket alone, and the bucket allows the page", async () => {
  const [cors] = it
    .of("aws:s3/bucketCorsConfiguration:BucketCorsConfiguration")
    .filter(({ name }) => name.startsWith("Blobs"));
  const [policy] = it.inputsOf("aws:cloudfront/responseHeadersPolicy:ResponseHeadersPolicy");

  const connect = expect.stringContaining(`connect-src 'self' ${await findFilesOrigin()};`);
  expect(policy).toMatchObject({
    securityHeadersConfig: { contentSecurityPolicy: { contentSecurityPolicy: connect } },
  });
  expect(cors?.inputs["corsRules"]).toMatchObject([
    { allowedOrigins: ["*"], allowedMethods: ["GET", "PUT"], allowedHeaders: ["*"] },
  ]);
});

test("only CloudFront reads the bucket, for distributions of this account, over TLS", () => {
  const policies = it
    .of("aws:s3/bucketPolicy:BucketPolicy")
    .filter(({ name }) => name.startsWith("Dashboard"))
    .flatMap(({ inputs }) => parseStatements(String(inputs["policy"])));

  expect(policies.filter(({ effect }) => effect !== "Deny" && effect !== "deny")).toMatchObject([
    {
      actions: ["s3:GetObject"],
      principals: [{ identifiers: ["cloudfront.amazonaws.com"] }],
      conditions: [
        { variable: "AWS:SourceArn", values: ["arn:aws:cloudfront::123456789012:distribution/*"] },
      ],
    },
  ]);
  expect(JSON.stringify(policies)).toContain("aws:SecureTransport");
});

describe("before a file is looked for", () => {
  type Answer = { readonly uri?: string; readonly statusCode?: number; readonly headers?: any };
  const code = createRoutingCode(["index.html", "icon.svg", "assets/index-1a2b.js"]);
  const handler = runInThisContext(`(() => { ${code} return handler; })()`) as (
    event: object,
  ) => Answer;
  const ask = (uri: string, accept?: string): Answer =>
    handler({
      request: { uri, headers: accept === undefined ? {} : { accept: { value: accept } } },
    });

  test.each([
    ["/app/", "/app/index.html"],
    ["/app/lists/job_1", "/app/index.html"],
    ["/app/settings/api-keys", "/app/index.html"],
    ["/app/no.such.screen", "/app/index.html"],
    ["/app/icon.svg", "/app/icon.svg"],
    ["/app/assets/index-1a2b.js", "/app/assets/index-1a2b.js"],
    // Of the build before: the bucket still has it.
    ["/app/assets/index-older.js", "/app/assets/index-older.js"],
    ["/app/constructor", "/app/index.html"],
  ])("%s is %s", (path, file) => {
    expect(ask(path)).toMatchObject({ uri: file });
  });

  test("/ leads browsers to the dashboard, and programs to the API", () => {
    const browser = ask("/", "text/html,application/xhtml+xml;q=0.9");

    expect(browser).toMatchObject({ statusCode: 302, headers: { location: { value: "/app/" } } });
    expect(ask("/", "application/json")).toMatchObject({ uri: "/" });
    expect(ask("/")).toMatchObject({ uri: "/" });
    expect(ask("/app")).toMatchObject({
      statusCode: 308,
      headers: { location: { value: "/app/" } },
    });
  });

  test("the code is small enough for CloudFront, which takes 10 KB", () => {
    const [routing] = it.inputsOf("aws:cloudfront/function:Function");

    expect(routing?.["runtime"]).toBe("cloudfront-js-2.0");
    expect(String(routing?.["code"]).length).toBeLessThan(10_000);
    expect(String(routing?.["code"])).toContain('"/app/index.html":true');
  });
});
