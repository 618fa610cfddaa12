import { createHmac, timingSafeEqual } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";

/** CloudFront adds this header to each request. Its value is secret, since callers of the API's own host may send any header. */
export const FRONT_HEADER = "x-mailproof-front";

/** The value of the header, derived from SEALING_KEY. */
export const deriveFrontSecret = (sealingKey: string): string =>
  createHmac("sha256", sealingKey).update("mailproof front").digest("hex");

/** The secrets of the key and of the key before, which is empty without a rotation. */
export const listFrontSecrets = (sealingKeys: readonly string[]): string =>
  sealingKeys
    .filter((key) => key !== "")
    .map(deriveFrontSecret)
    .join(",");

type Event = Pick<APIGatewayProxyEventV2, "headers" | "requestContext">;

/**
 * CloudFront appends the address that called it to what its caller wrote; API Gateway then appends CloudFront's. While
 * SEALING_KEY changes, CloudFront sends the old secret for some minutes: `frontSecrets` has both, with a comma.
 */
export const getClientIp = ({ headers, requestContext }: Event, frontSecrets = ""): string => {
  const { sourceIp } = requestContext.http;
  const { [FRONT_HEADER]: sent, "x-forwarded-for": forwarded = "" } = headers;
  if (!sent || !frontSecrets.split(",").some((secret) => isSame(sent, secret))) return sourceIp;
  const addresses = forwarded.split(",").map((one) => one.trim());
  return addresses.findLast((one) => one !== "" && one !== sourceIp) ?? sourceIp;
};

const isSame = (sent: string, secret: string): boolean => {
  const [one, other] = [Buffer.from(sent), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
};
