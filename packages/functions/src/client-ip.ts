import { createHmac, timingSafeEqual } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";

/** CloudFront sends it with what it passes on. The API's own host stays open beside it, where anyone writes any header. */
export const FRONT_HEADER = "x-mailproof-front";

/** What the header holds, made from SEALING_KEY. */
export const deriveFrontSecret = (sealingKey: string): string =>
  createHmac("sha256", sealingKey).update("mailproof front").digest("hex");

type Event = Pick<APIGatewayProxyEventV2, "headers" | "requestContext">;

/** CloudFront appends the address that called it to what its caller wrote; API Gateway then appends CloudFront's. */
export const getClientIp = (
  { headers, requestContext }: Event,
  frontSecret: string | undefined,
): string => {
  const { sourceIp } = requestContext.http;
  const { [FRONT_HEADER]: sent, "x-forwarded-for": forwarded = "" } = headers;
  if (!sent || !frontSecret || !isSame(sent, frontSecret)) return sourceIp;
  const addresses = forwarded.split(",").map((one) => one.trim());
  return addresses.findLast((one) => one !== "" && one !== sourceIp) ?? sourceIp;
};

const isSame = (sent: string, secret: string): boolean => {
  const [one, other] = [Buffer.from(sent), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
};
