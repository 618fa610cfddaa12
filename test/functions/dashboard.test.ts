import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createDashboard } from "@mailproof/functions/dashboard";
import {
  deriveFrontSecret,
  FRONT_HEADER,
  FRONT_HOST_HEADER,
  getClientIp,
  getHost,
  listFrontSecrets,
} from "@mailproof/functions/front";
import { packTexts } from "@mailproof/functions/packed-texts";
import { describe, expect, test } from "vitest";

// The dashboard as $default serves it on AWS.

const SETTINGS = { BUCKET_NAME: "mailproof-blobs", AWS_REGION: "eu-west-1", DASHBOARD: "api" };
const PACKED = packTexts({
  "index.html": "<!doctype html>",
  "icon.svg": "<svg/>",
  "assets/index-1a2b.js": "start()",
});

const find = createDashboard(SETTINGS, PACKED);
const get = (rawPath: string, accept = "*/*", method = "GET") =>
  find({ method, rawPath, headers: { accept } });

/** Where a presigned link leads. */
const findUploadOrigin = async () => {
  const aws = {
    region: SETTINGS.AWS_REGION,
    credentials: { accessKeyId: "AKIA", secretAccessKey: "secret" },
    endpoints: {},
    transport: () => Promise.reject(new Error("signing sends nothing")),
    now: () => new Date(),
    random: Math.random,
    sleep: () => Promise.resolve(),
  };
  const { url } = await createS3Blobs(aws, SETTINGS.BUCKET_NAME).presignPut("uploads/list.csv", {
    expiresInSeconds: 60,
    bytesMax: 1_000,
  });
  return new URL(url).origin;
};

test("the dashboard's page on AWS forbids caching, and its policy adds only uploads to the bucket", async () => {
  const page = get("/app/");

  expect(page).toMatchObject({
    statusCode: 200,
    body: "<!doctype html>",
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "strict-transport-security": "max-age=63072000",
      "x-content-type-options": "nosniff",
    },
  });
  const policy = page?.headers["content-security-policy"];
  expect(policy).toContain(`connect-src 'self' ${await findUploadOrigin()};`);
  expect(policy).toContain("require-trusted-types-for 'script'");
});

describe("a path of the dashboard on AWS", () => {
  test.each([
    ["/app/assets/index-1a2b.js", "start()", "text/javascript; charset=utf-8"],
    ["/app/icon.svg", "<svg/>", "image/svg+xml"],
  ])("the dashboard allows caching of the file %s for a year", (path, body, type) => {
    expect(get(path)).toMatchObject({
      body,
      headers: {
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
      },
    });
  });

  test.each(["/app/lists/job_1", "/app/no.such.screen", "/app/constructor"])(
    "the path %s returns the dashboard's page, which opens the screen",
    (path) => {
      expect(get(path)?.body).toBe("<!doctype html>");
    },
  );

  test("a dashboard asset of another build answers 404 instead of the page", () => {
    expect(() => get("/app/assets/index-older.js")).toThrow("The dashboard has no such file.");
  });

  test("the path / redirects browsers to the dashboard and programs to the API", () => {
    expect(get("/", "text/html,application/xhtml+xml;q=0.9")).toMatchObject({
      statusCode: 302,
      headers: { location: "/app/" },
    });
    expect(get("/", "application/json")).toBeUndefined();
    expect(get("/app")).toMatchObject({ statusCode: 308, headers: { location: "/app/" } });
    expect(get("/v1/no-such-route")).toBeUndefined();
  });

  test("the dashboard on AWS accepts GET and HEAD", () => {
    expect(get("/app/", "*/*", "HEAD")?.statusCode).toBe(200);
    expect(() => get("/app/", "*/*", "POST")).toThrow("use GET, HEAD");
  });
});

test("a stage without a dashboard, or in a live session, serves no dashboard", () => {
  const request = { method: "GET", rawPath: "/app/", headers: {} };

  expect(createDashboard({ ...SETTINGS, DASHBOARD: "none" }, PACKED)(request)).toBeUndefined();
  expect(createDashboard(SETTINGS, null)(request)).toBeUndefined();
});

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
