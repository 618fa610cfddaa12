import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { expect, onTestFinished, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { createFolder, whenCommandedWith } from "../servers/running.ts";

const AUDIENCE = "https://api.example.com/mcp";

test.each(["https://login.example.com/realms/a", "http://127.0.0.1:9000", "http://localhost:9000"])(
  "the environment's reader accepts the issuer %s",
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
])("the environment's reader refuses the issuer %j", (issuer) => {
  expect(() => readEnvironment({ OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: AUDIENCE })).toThrow(
    "OAUTH_ISSUER must be an https address, or one of this machine",
  );
});

test("the environment's reader refuses an issuer without an audience, since other services' tokens would pass", () => {
  const wrong = "OAUTH_AUDIENCE must be set with OAUTH_ISSUER, and only then";

  expect(() => readEnvironment({ OAUTH_ISSUER: "https://login.example.com" })).toThrow(wrong);
  expect(() => readEnvironment({ OAUTH_AUDIENCE: AUDIENCE })).toThrow(wrong);
});

test.each(asRows`
  a port that is a word | ${{ PORT: "http" }} | PORT must be a number from 0 to 65535
  a port that is too high | ${{ PORT: "70000" }} | PORT must be a number from 0 to 65535
  a short pepper | ${{ KEY_PEPPER: "salt" }} | KEY_PEPPER must have at least 16 characters
  an identity provider without a client id | ${{ OIDC_ISSUER: "https://login.example.com" }} | OIDC_CLIENT_ID must be set with OIDC_ISSUER, and only then
  a client id without an identity provider | ${{ OIDC_CLIENT_ID: "a" }} | OIDC_CLIENT_ID must be set with OIDC_ISSUER, and only then
  a client secret without an identity provider | ${{ OIDC_CLIENT_SECRET: "a" }} | OIDC_CLIENT_SECRET must be set with OIDC_ISSUER only
  an identity provider without TLS | ${{ OIDC_ISSUER: "http://login.example.com", OIDC_CLIENT_ID: "a" }} | OIDC_ISSUER must be an https address
  a sender that needs SMTPUTF8 | ${{ SMTP_FROM: "prüfung@example.org" }} | SMTP_FROM must be an email address
`)("the environment's reader refuses %s with a sentence", (_, settings, words) => {
  expect(() => readEnvironment(settings)).toThrow(words);
});

test.each([
  ["METRIC_PORT", "METRICS_PORT"],
  ["METRCIS_PORT", "METRICS_PORT"],
  ["metrics_port", "METRICS_PORT"],
  ["METRICS-PORT", "METRICS_PORT"],
  ["SMTP_HELO", "SMTP_HELLO"],
  ["DNS_SERVER", "DNS_SERVERS"],
  ["MAILPROF_DIR", "MAILPROOF_DIR"],
  ["BLOCKLIST", "BLOCKLISTS"],
  ["OUTBOND_ALOW_PRIVATE", "OUTBOUND_ALLOW_PRIVATE"],
])("the setting %s stops a start with a sentence that suggests %s", (name, meant) => {
  expect(() => readEnvironment({ [name]: "x" })).toThrow(
    `Invalid settings: ${name} is not a setting: did you mean ${meant}?`,
  );
});

/** Of shells, of systemd, of npm, of containers and clouds, and of programs that have a mail server or a port too. */
const INNOCENT =
  `PATH HOME USER SHELL TERM LANG LC_ALL PWD OLDPWD TZ EDITOR PAGER HOSTNAME HOSTTYPE LOGNAME MAIL DISPLAY
  NO_COLOR FORCE_COLOR CI NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS npm_config_cache npm_lifecycle_event INIT_CWD
  INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET STATE_DIRECTORY RUNTIME_DIRECTORY LISTEN_FDS LISTEN_PID
  HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy SMTP_HOST SMTP_USER SMTP_PASS SMTP_PASSWORD SMTP_SERVER SMTP_TLS
  DATABASE_URL REDIS_URL APP_PORT HTTP_PORT WEB_PORT DB_PORT DB_HOST DEBUG DOMAIN PROXY HOSTS PORTS
  AWS_REGION AWS_ACCOUNT AWS_ACCOUNT_ID AWS_PROFILE AWS_ACCESS_KEY_ID SES_REGION
  KUBERNETES_PORT KUBERNETES_SERVICE_HOST MAILPROOF_HOST MAILPROOF_SERVER MAILPROOF_PORT MAILPROOF_SERVICE_HOST
  MAILPROOF_VERSION LOGLEVEL LOG_FORMAT LOG_FILE BASE_URL BASE_DIR PUBLIC_KEY PUBLIC_HOST DNS_SERVICE`.split(
    /\s+/,
  );

test.each(INNOCENT)("the variable %s does not stop a start", (name) => {
  expect(() => readEnvironment({ [name]: "x" })).not.toThrow();
});

test("the server starts without a secret before when its setting is empty", () => {
  const environment = { MAILPROOF_DIR: createFolder(), CURSOR_SECRET_BEFORE: "" };
  const { world, close } = createApp(readEnvironment(environment), () => "", null);
  onTestFinished(close);

  expect(world.settings.cursorSecretBefore).toBeNull();
});

test("a variable that Kubernetes sets for a service, or an empty one, does not stop a start", () => {
  const innocent = { METRIC_PORT: "tcp://10.0.0.1:80", METRICS_PORTS: "" };

  expect(() => readEnvironment(innocent)).not.toThrow();
});

test("a name similar to a setting belongs to another program when that setting is present", () => {
  const both = { METRIC_PORT: "9000", METRICS_PORT: "9464" };

  expect(readEnvironment(both)).toMatchObject({ METRICS_PORT: 9464 });
});

test("a command with a misspelt setting does nothing and exits with 2", async () => {
  const settings = { MAILPROOF_DIR: createFolder(), LOG_LEVLE: "warn" };

  const { code, err } = await whenCommandedWith(settings, "admin", "accounts", "list");

  expect(code).toBe(2);
  expect(err).toContain("LOG_LEVLE is not a setting: did you mean LOG_LEVEL?");
});

test.each([
  ["a trailing line break", "probe@example.org\n"],
  ["surrounding brackets", "<probe@example.org>"],
])("the environment's reader returns the address for SMTP_FROM with %s", (_, written) => {
  expect(readEnvironment({ SMTP_FROM: written }).SMTP_FROM).toBe("probe@example.org");
});
