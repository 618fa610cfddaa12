import { ASSETS_FOLDER, DASHBOARD_PATH } from "@mailproof/api/http/dashboard-files";
import { deriveFrontSecret, FRONT_HEADER, FRONT_HOST_HEADER } from "@mailproof/functions/front";
import { api, toSstDomain } from "./api.ts";
import { sealingKey } from "./secrets.ts";
import { settings } from "./stage.ts";

// CloudFront before the API, for a host name of its own, files near people, and a firewall (AWS WAF), which an API of this kind cannot have. AWS refuses it
// to an account that it has not verified yet, and nothing else depends on it. Programs may go on calling the API at its own host.

/** The ids of policies that AWS defines. */
const CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6";
const CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";
const ALL_VIEWER_EXCEPT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac";

/** CloudFront stores no response that contains an account's data. */
const toApi = {
  targetOriginId: "api",
  // A key that was sent without TLS would be read before any redirect.
  viewerProtocolPolicy: "https-only",
  allowedMethods: ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"],
  cachedMethods: ["GET", "HEAD"],
  cachePolicyId: CACHING_DISABLED,
  originRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
};

const toPage = { ...toApi, viewerProtocolPolicy: "redirect-to-https" };

/** The name of an asset contains a hash of its content. */
const toAssets = {
  ...toPage,
  allowedMethods: ["GET", "HEAD"],
  cachePolicyId: CACHING_OPTIMIZED,
};

/** CloudFront calls API Gateway by API Gateway's own name, while sessions, passkeys and links belong to the client's. */
const createHostCopy = () =>
  new aws.cloudfront.Function("FrontHost", {
    runtime: "cloudfront-js-2.0",
    code: `function handler({ request }) {
  request.headers["${FRONT_HOST_HEADER}"] = request.headers.host;
  return request;
}`,
  });

const createFront = () =>
  new sst.aws.Cdn("Front", {
    comment: `${$app.name} ${$app.stage}: the dashboard and the API`,
    ...(settings.appDomain && { domain: toSstDomain(settings.appDomain) }),
    wait: false,
    origins: [
      {
        originId: "api",
        domainName: api.nodes.api.apiEndpoint.apply((url) => new URL(url).host),
        // The header proves to the API that CloudFront sent the caller's address.
        customHeaders: [{ name: FRONT_HEADER, value: sealingKey.value.apply(deriveFrontSecret) }],
        customOriginConfig: {
          httpPort: 80,
          httpsPort: 443,
          originProtocolPolicy: "https-only",
          originSslProtocols: ["TLSv1.2"],
          // CloudFront waits longer than API Gateway.
          originReadTimeout: 60,
        },
      },
    ],
    defaultCacheBehavior: {
      ...toApi,
      functionAssociations: [{ eventType: "viewer-request", functionArn: createHostCopy().arn }],
    },
    orderedCacheBehaviors: [
      { pathPattern: "/", ...toPage },
      { pathPattern: `${DASHBOARD_PATH}${ASSETS_FOLDER}*`, ...toAssets },
      { pathPattern: `${DASHBOARD_PATH}*`, ...toPage },
    ],
    transform: {
      distribution: {
        httpVersion: "http2and3",
        ...(settings.webAcl !== null && { webAclId: settings.webAcl }),
      },
    },
  });

/** The URL at which people and programs reach the stage. */
export const url = settings.dashboard === "cloudfront" ? createFront().url : api.url;
