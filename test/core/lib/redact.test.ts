import { redact } from "@mailproof/core/lib/redact";
import { expect, test } from "vitest";

const KEY = "mp_live_4gdBlMBzgKh5AYrHyhuzHd12XFan";

test.each([
  ["an address", "ann.lee+x@example.com", "ann.lee"],
  ["an address in a sentence", "550 <ann@example.com>: unknown", "ann@"],
  ["an address with a quoted part", '"ann lee"@example.com', "example.com"],
  ["an address in a link", "GET /v1/activity/ann%40example.com", "ann%40"],
  ["an address in another script", "анна@пример.рф", "анна"],
  ["a key", KEY, "4gdBl"],
  ["a key in a header", `X-Api-Key: ${KEY}`, "4gdBl"],
  ["an access token", "Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmVk", "c2lnbmVk"],
  ["one without its end", "got eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ and no more", "zdWIi"],
  ["a signing secret", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "b5sSY"],
  ["a signed link", "http://127.0.0.1/blobs/a?until=1&signature=c2VjcmV0", "c2VjcmV0"],
  ["an AWS link", "https://s3/x?X-Amz-Credential=AKIA1&X-Amz-Signature=abcd", "AKIA1"],
])("%s does not reach the log", (_, text, secret) => {
  expect(redact(text)).not.toContain(secret);
});

test("the same address is the same hash, whatever its case, so that lines can be matched", () => {
  expect(redact("to Ann@Example.com")).toBe(redact("to ann@example.COM"));
  expect(redact("to ann@example.com")).not.toBe(redact("to bo@example.com"));
});

test("it looks into lists, objects, their names and errors", () => {
  const redacted = JSON.stringify(
    redact({
      deep: [{ "ann@example.com": 1, cause: new Error("no ann@example.com") }],
      n: 5,
      none: null,
    }),
  );

  expect(redacted).not.toContain("ann@");
  expect(redacted).toContain('"n":5,"none":null');
});

test("ordinary words stay", () => {
  const line = { event: "failure", requestId: "req_1", code: "INTERNAL", path: "/v1/jobs/job_1" };

  expect(redact(line)).toEqual(line);
});

test("a long line without an address stays as it is", () => {
  const line = "a".repeat(1_000_000);

  expect(redact(line)).toBe(line);
});
