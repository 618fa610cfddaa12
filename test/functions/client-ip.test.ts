import { deriveFrontSecret, FRONT_HEADER, getClientIp } from "@mailproof/functions/client-ip";
import { expect, test } from "vitest";

const FRONT_SECRET = deriveFrontSecret("a sealing key");
const CLOUDFRONT = "203.0.113.9";

const fromCloudFront = (forwarded: string | undefined, secret = FRONT_SECRET) =>
  getClientIp(
    {
      headers: { "x-forwarded-for": forwarded, [FRONT_HEADER]: secret },
      requestContext: { http: { sourceIp: CLOUDFRONT } } as never,
    },
    FRONT_SECRET,
  );

test.each([
  ["has written nothing", `192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["has IPv6", `2001:db8::7, ${CLOUDFRONT}`, "2001:db8::7"],
  ["has written another address", `198.51.100.1, 192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["has written CloudFront's", `${CLOUDFRONT}, 192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["is all that is named", "192.0.2.7", "192.0.2.7"],
  ["is not named", undefined, CLOUDFRONT],
])("behind CloudFront the client is whom CloudFront names, where it %s", (_case, forwarded, ip) => {
  expect(fromCloudFront(forwarded)).toBe(ip);
});

test.each([
  ["another secret", deriveFrontSecret("another sealing key")],
  ["a part of it", FRONT_SECRET.slice(1)],
  ["letters that are two bytes", "é".repeat(64)],
  ["nothing", ""],
])("who calls the API itself with %s is who called", (_case, secret) => {
  expect(fromCloudFront("192.0.2.7", secret)).toBe(CLOUDFRONT);
});

test("without the header a client is who called, whatever it writes", () => {
  const http = { sourceIp: "192.0.2.1" };
  const event = { headers: { "x-forwarded-for": "192.0.2.7" }, requestContext: { http } as never };

  expect(getClientIp(event, FRONT_SECRET)).toBe("192.0.2.1");
  expect(getClientIp({ ...event, headers: { [FRONT_HEADER]: "" } }, undefined)).toBe("192.0.2.1");
});
