import {
  deriveFrontSecret,
  FRONT_HEADER,
  FRONT_HOST_HEADER,
  getClientIp,
  getHost,
  listFrontSecrets,
} from "@mailproof/functions/front";
import { expect, test } from "vitest";

const FRONT_SECRET = deriveFrontSecret("a sealing key");
const CLOUDFRONT = "203.0.113.9";

const fromCloudFront = (
  forwarded: string | undefined,
  secret = FRONT_SECRET,
  secrets = FRONT_SECRET,
) =>
  getClientIp(
    {
      headers: { "x-forwarded-for": forwarded, [FRONT_HEADER]: secret },
      requestContext: { http: { sourceIp: CLOUDFRONT } } as never,
    },
    secrets,
  );

test.each([
  ["adds to an empty header", `192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["adds an IPv6 address", `2001:db8::7, ${CLOUDFRONT}`, "2001:db8::7"],
  ["adds to another address", `198.51.100.1, 192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["adds to its own address", `${CLOUDFRONT}, 192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["sends a single address", "192.0.2.7", "192.0.2.7"],
  ["sends no header", undefined, CLOUDFRONT],
])(
  "a Lambda reads the viewer's address from the header when CloudFront %s",
  (_case, forwarded, ip) => {
    expect(fromCloudFront(forwarded)).toBe(ip);
  },
);

test.each([
  ["another secret", deriveFrontSecret("another sealing key")],
  ["a part of the secret", FRONT_SECRET.slice(1)],
  ["letters of two bytes", "é".repeat(64)],
  ["an empty secret", ""],
])("a Lambda uses the direct caller's address when the caller's secret is %s", (_case, secret) => {
  expect(fromCloudFront("192.0.2.7", secret)).toBe(CLOUDFRONT);
});

test("a Lambda reads the viewer's address while CloudFront sends the secret of the sealing key before", () => {
  const secrets = listFrontSecrets(["another sealing key", "a sealing key"]);

  expect(fromCloudFront("192.0.2.7", FRONT_SECRET, secrets)).toBe("192.0.2.7");
  expect(listFrontSecrets(["a sealing key", ""])).toBe(FRONT_SECRET);
});

test("a Lambda without the secret uses the direct caller's address and ignores the headers", () => {
  const http = { sourceIp: "192.0.2.1" };
  const event = { headers: { "x-forwarded-for": "192.0.2.7" }, requestContext: { http } as never };

  expect(getClientIp(event, FRONT_SECRET)).toBe("192.0.2.1");
  expect(getClientIp({ ...event, headers: { [FRONT_HEADER]: "" } }, undefined)).toBe("192.0.2.1");
});

test("a Lambda knows the host name that the client called by CloudFront's word alone", () => {
  const event = {
    headers: { [FRONT_HOST_HEADER]: "app.example.com", [FRONT_HEADER]: FRONT_SECRET },
    requestContext: { domainName: "api.example.com" } as never,
  };

  expect(getHost(event, FRONT_SECRET)).toBe("app.example.com");
  expect(getHost(event, deriveFrontSecret("another sealing key"))).toBe("api.example.com");
  expect(getHost(event)).toBe("api.example.com");
});
