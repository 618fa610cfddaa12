import { existsSync } from "node:fs";
import { SETTINGS } from "@mailproof/local/environment";
import { expect, test } from "vitest";
import {
  createFolder,
  whenCommanded,
  whenCommandedWith,
  whenRun,
  whenRunIn,
  whenStarted,
} from "../servers/running.ts";

type Row = {
  readonly name: string;
  readonly value: string | null;
  readonly default: string | null;
  readonly source: string;
};

const SECRET = "a secret of sixteen letters";

test("mailproof config show prints every setting with its value, its default and its source", async () => {
  const settings = { MAILPROOF_DIR: createFolder(), PORT: "9000", LOG_LEVEL: "warn" };

  const { code, out } = await whenRun(settings, "config", "show", "--json");

  expect(code).toBe(0);
  const rows = JSON.parse(out) as Row[];
  expect(rows.map(({ name }) => name)).toEqual(SETTINGS);
  expect(rows).toContainEqual({
    name: "PORT",
    value: "9000",
    default: "8787",
    source: "environment",
  });
  expect(rows).toContainEqual({
    name: "HOST",
    value: "127.0.0.1",
    default: "127.0.0.1",
    source: "default",
  });
  expect(rows).toContainEqual({
    name: "KEY_PEPPER",
    value: null,
    default: null,
    source: "generated",
  });
  expect(rows).toContainEqual({ name: "PUBLIC_URL", value: null, default: null, source: "unset" });
});

test("mailproof config show prints no secret and no proxy's password", async () => {
  const secrets = Object.fromEntries(
    SETTINGS.filter((name) => /KEY|SECRET|PEPPER/.test(name)).map((name) => [
      name,
      {
        OPERATOR_KEY: `mp_operator_${"hiddenkey2".repeat(4)}`,
        SPAMHAUS_KEY: "hiddenkey1",
      }[name] ?? SECRET,
    ]),
  );
  const settings = {
    ...secrets,
    MAILPROOF_DIR: createFolder(),
    SMTP_PROXIES: "socks5://user:pass1word@192.0.2.1:1080,socks5://192.0.2.2:1080",
    PUBLIC_URL: "https://me:pass1word@api.example.com",
    OIDC_ISSUER: "https://id.example.com",
    OIDC_CLIENT_ID: "mailproof",
    SMTP_URL: "smtps://user:pass1word@relay.example.com:465",
    MAIL_FROM: "mailproof@example.com",
  };

  const { out } = await whenRun(settings, "config", "show");

  expect(Object.keys(secrets).length).toBeGreaterThanOrEqual(6);
  for (const secret of [SECRET, "hiddenkey1", "hiddenkey2", "pass1word", "user:"])
    expect(out).not.toContain(secret);
  expect(out).toContain("socks5://********@192.0.2.1:1080,socks5://192.0.2.2:1080");
  expect((JSON.parse(out) as Row[]).filter(({ value }) => value === "********")).toHaveLength(
    Object.keys(secrets).length,
  );
});

test("mailproof config show and admin checklist read a running server's settings, and otherwise the shell's", async () => {
  const folder = createFolder();
  const proxy = "socks5://user:pass1word@192.0.2.1:1080";
  const settings = { PUBLIC_URL: "https://api.example.com", SMTP_PROXIES: proxy };
  const { ready, stop } = await whenStarted(folder, [], settings);
  const shell = { MAILPROOF_DIR: folder, PUBLIC_URL: "http://shell.example.com", DEMO: "off" };
  const judge = async () => {
    const shown = await whenRun(shell, "config", "show", "--json");
    const checked = await whenRun(shell, "admin", "checklist", "--json");
    const rows = JSON.parse(shown.out) as Row[];
    const { lights } = JSON.parse(checked.out) as { lights: { light: string; on: boolean }[] };
    return {
      url: rows.find(({ name }) => name === "PUBLIC_URL")?.value,
      demo: rows.find(({ name }) => name === "DEMO")?.value,
      on: lights.filter(({ light, on }) => on && /TLS|Account/.test(light)).map((one) => one.light),
      notes: [shown.err, checked.err],
    };
  };

  const beside = await judge();
  const { settings: stored } = ready as unknown as { settings: Record<string, string> };
  await stop("SIGTERM");
  const alone = await judge();

  const ofServer = `Settings: of the server that runs on ${folder} (${ready.base_url}).\n`;
  const ofShell = `Settings: of this shell, since no server runs on ${folder}.\n`;
  expect(beside).toEqual({
    url: "https://api.example.com",
    demo: "on",
    on: ["TLS"],
    notes: [ofServer, ofServer],
  });
  expect(alone).toEqual({
    url: "http://shell.example.com",
    demo: "off",
    on: ["Account"],
    notes: [ofShell, ofShell],
  });
  expect(stored["SMTP_PROXIES"]).toBe("socks5://********@192.0.2.1:1080");
});

test("mailproof version prints the facts that a bug report needs", async () => {
  const { code, out } = await whenCommandedWith({}, "version", "--json");

  expect(code).toBe(0);
  const { commit, ...versions } = JSON.parse(out) as Record<string, string | null>;
  // A copy without the repository knows none.
  expect(commit ?? "none").toMatch(existsSync(".git") ? /^[0-9a-f]{40}$/ : /^none$/);
  expect(versions).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    node: process.versions.node,
    sqlite: process.versions["sqlite"],
  });
});

const at = (name: string) => `${name}.senders.lab.mailproof.test`;

const whenChecked = async (...args: readonly string[]) => {
  const { code, out, err } = await whenRunIn(createFolder(), "check", ...args);
  return { code, err, report: out === "" ? null : JSON.parse(out) };
};

test("mailproof check works without a server or state and writes one line of JSON to a pipe", async () => {
  const args = ["check", at("good"), "--ip", "192.0.2.10"];
  const { code, out, err } = await whenCommanded(createFolder(), ...args);

  expect({ code, err, lines: out.split("\n").length - 1 }).toEqual({ code: 0, err: "", lines: 1 });
  expect(JSON.parse(out)).toMatchObject({ domain: at("good"), score: 100, grade: "A" });
});

test("mailproof check prints recommendations for a faulty domain and exits with 0", async () => {
  const { code, report } = await whenChecked(at("bare"), "--json");

  expect(code).toBe(0);
  expect(report).toMatchObject({ server: { reverse_dns_status: "not_checked" }, grade: "F" });
  expect(report.recommendations[0]).toMatchObject({ id: "add_dkim" });
});

test("mailproof check --flatten replaces the given includes by address blocks and counts the look-ups again", async () => {
  const include = `i0.${at("lookups")}`;
  const { code, report } = await whenChecked(at("lookups"), "--flatten", include);

  expect(code).toBe(0);
  expect(report.authentication.spf.lookups).toBe(11);
  expect(report.flattened_spf).toMatchObject({
    includes: [{ include, address_blocks: 1 }],
    lookups: 10,
  });
  expect(report.flattened_spf.record.value).not.toContain(`include:${include} `);
});

test("mailproof check --flatten exits with 2 for an include that the record lacks", async () => {
  const { code, err, report } = await whenChecked(at("good"), "--flatten", "elsewhere.test");

  expect({ code, report }).toEqual({ code: 2, report: null });
  expect(err).toContain("--flatten: elsewhere.test: the SPF record does not include it");
});

test("mailproof check accepts a domain pasted as a URL and reports both of its forms", async () => {
  const { code, report } = await whenChecked(` HTTPS://${at("BÜCHER")}.:443/path?x `);

  expect(code).toBe(0);
  expect(report).toMatchObject({
    domain: at("xn--bcher-kva"),
    domain_unicode: at("bücher"),
    confidence: "medium",
    missing_parts: ["reputation"],
  });
});

test.each(["10.0.0.1", "127.0.0.1", "198.51.100.7"])(
  "mailproof check exits with 2 for a private or reserved sending address (%s)",
  async (ip) => {
    const { code, err, report } = await whenChecked(at("good"), "--ip", ip);

    expect({ code, report }).toEqual({ code: 2, report: null });
    expect(err).toContain(`${ip} is a private or reserved address`);
  },
);

test("mailproof check reports a domain that does not exist", async () => {
  const { code, report } = await whenChecked(at("nobody-has-this"));

  expect(code).toBe(0);
  expect(report).toMatchObject({ score: 0, grade: "F", dns: { has_valid_mx: false } });
});

test("mailproof check exits with 1 and writes the reason to stderr when no verdict is possible", async () => {
  const { code, err, report } = await whenChecked(at("failing"));

  expect({ code, report }).toEqual({ code: 1, report: null });
  expect(err).toBe(
    `No name server answered any query about ${at("failing")}, so there is no verdict. Is this machine online?\n`,
  );
});
