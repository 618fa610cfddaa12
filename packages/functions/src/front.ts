import { createHmac, timingSafeEqual } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";

// CloudFront stands before API Gateway, if wanted, and calls it by API Gateway's own host name and from an address of its own.

/** CloudFront adds this header to each request. Its value is secret, since callers of the API's own host may send any header. */
export const FRONT_HEADER = "x-mailproof-front";

/** CloudFront's function (infra/front.ts) writes the host name that the client called into this header. */
export const FRONT_HOST_HEADER = "x-forwarded-host";

/** The value of FRONT_HEADER, derived from SEALING_KEY. */
export const deriveFrontSecret = (sealingKey: string): string =>
  createHmac("sha256", sealingKey).update("mailproof front").digest("hex");

/** The secrets of the key and of the key before, which is empty without a rotation. */
export const listFrontSecrets = (sealingKeys: readonly string[]): string =>
  sealingKeys
    .filter((key) => key !== "")
    .map(deriveFrontSecret)
    .join(",");

type Event = Pick<APIGatewayProxyEventV2, "headers" | "requestContext">;

/** While SEALING_KEY changes, CloudFront sends the old secret for some minutes: `frontSecrets` has both, with a comma. */
const isFromFront = ({ headers }: Event, frontSecrets: string): boolean => {
  const { [FRONT_HEADER]: sent } = headers;
  return !!sent && frontSecrets.split(",").some((secret) => isSame(sent, secret));
};

/** CloudFront appends the address that called it to what its caller wrote; API Gateway then appends CloudFront's. */
export const getClientIp = (event: Event, frontSecrets = ""): string => {
  const { sourceIp } = event.requestContext.http;
  if (!isFromFront(event, frontSecrets)) return sourceIp;
  const { "x-forwarded-for": forwarded = "" } = event.headers;
  const addresses = forwarded.split(",").map((one) => one.trim());
  return addresses.findLast((one) => one !== "" && one !== sourceIp) ?? sourceIp;
};

/** The host name that the client called: sessions, passkeys and links belong to it. */
export const getHost = (event: Event, frontSecrets = ""): string =>
  (isFromFront(event, frontSecrets) && event.headers[FRONT_HOST_HEADER]) ||
  event.requestContext.domainName;

const isSame = (sent: string, secret: string): boolean => {
  const [one, other] = [Buffer.from(sent), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
};
