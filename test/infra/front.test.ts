import { deriveFrontSecret, FRONT_HEADER, FRONT_HOST_HEADER } from "@mailproof/functions/front";
import { beforeAll, expect, test } from "vitest";
import { isSecret, look } from "./queries.ts";
import { synthesise } from "./synthesise.ts";

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
  const handler = new Function(`${copy?.["code"]}; return handler;`)();
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
