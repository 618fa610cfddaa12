import { readEnvironment } from "@mailproof/local/environment";
import { expect, test } from "vitest";

const AUDIENCE = "https://api.example.com/mcp";

test.each(["https://login.example.com/realms/a", "http://127.0.0.1:9000", "http://localhost:9000"])(
  "%s may be an issuer",
  (issuer) => {
    const settings = { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: AUDIENCE };

    expect(readEnvironment(settings)).toMatchObject(settings);
  },
);

test.each([
  "http://login.example.com",
  "http://127.0.0.1.example.com",
  "login.example.com",
  "https://login.example.com/?a=b",
  "",
])("%j may not", (issuer) => {
  expect(() => readEnvironment({ OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: AUDIENCE })).toThrow(
    "OAUTH_ISSUER must be an https address, or one of this machine",
  );
});

test("an issuer without an audience is refused: tokens for other services would be accepted", () => {
  const wrong = "OAUTH_AUDIENCE must be set with OAUTH_ISSUER, and only then";

  expect(() => readEnvironment({ OAUTH_ISSUER: "https://login.example.com" })).toThrow(wrong);
  expect(() => readEnvironment({ OAUTH_AUDIENCE: AUDIENCE })).toThrow(wrong);
});

test.each([
  ["a port that is none", { PORT: "http" }, "PORT must be a number from 0 to 65535"],
  ["a port that is too high", { PORT: "70000" }, "PORT must be a number from 0 to 65535"],
  ["a short pepper", { KEY_PEPPER: "salt" }, "KEY_PEPPER must have at least 16 characters"],
])("%s is refused with a sentence", (_, settings, words) => {
  expect(() => readEnvironment(settings)).toThrow(words);
});
