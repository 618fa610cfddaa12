import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { VerificationResult } from "@mailproof/api/schema/verification";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { startLab } from "@mailproof/lab/lab";
import { createTextFormat } from "@mailproof/local/cli/show-results";
import { paintAnsi, paintPlain } from "@mailproof/local/cli/terminal";
import { PROGRAM } from "@mailproof/local/installation";
import * as v from "valibot";
import { expect, onTestFinished, test } from "vitest";
import {
  createFolder,
  spawnMailproof,
  whenCommanded,
  whenRun,
  whenRunIn,
} from "../servers/running.ts";

const ZONE = "lab.mailproof.test";
const getLines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => v.parse(VerificationResult, JSON.parse(line)));

test("mailproof verify works without a server or state and prints a JSON line with the API's fields per address", async () => {
  const emails = [`ada.lovelace@valid.${ZONE}`, `nobody@valid.${ZONE}`, "no address"];

  const { code, out, err } = await whenCommanded(createFolder(), "verify", ...emails);

  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(getLines(out).map(({ email, status }) => [email, status])).toEqual([
    [emails[0], "valid"],
    [emails[1], "invalid"],
    [emails[2], "invalid"],
  ]);
});

test("mailproof verify --fail-on exits with 1 when a result has one of its statuses", async () => {
  const run = async (statuses: string) =>
    (await whenCommanded(createFolder(), "verify", "--fail-on", statuses, `ada@valid.${ZONE}`))
      .code;

  expect([await run("invalid,unknown"), await run("invalid,valid")]).toEqual([0, 1]);
});

test("mailproof verify writes a list with its own columns, order and delimiter, and ours beside them", async () => {
  const folder = createFolder();
  const [file, results] = [join(folder, "list.csv"), join(folder, "results.csv")];
  const rows = [
    "Näme;E-Mail;Note",
    `Ada;ada.lovelace@valid.${ZONE};"one; two"`,
    `Jörg;"Nobody <nobody@valid.${ZONE}>";=1+1`,
    `Ada again;ADA.Lovelace@VALID.${ZONE};-5`,
    "None;none;+49 30 1234",
  ];
  writeFileSync(file, Buffer.from(rows.join("\r\n"), "latin1"));

  const { code } = await whenRunIn(folder, "verify", "--file", file, "--out", results);

  const text = readFileSync(results, "utf8");
  expect(code).toBe(0);
  expect(text).toMatch(/^\ufeffNäme;E-Mail;Note;email;status;send;quality_score;reason;/);
  const [, ...records] = createCsvReader(";")(text, true);
  expect(records.map((cells) => cells.slice(0, 5))).toEqual([
    ["Ada", `ada.lovelace@valid.${ZONE}`, "one; two", `ada.lovelace@valid.${ZONE}`, "valid"],
    ["Jörg", `Nobody <nobody@valid.${ZONE}>`, "'=1+1", `nobody@valid.${ZONE}`, "invalid"],
    ["Ada again", `ADA.Lovelace@VALID.${ZONE}`, "-5", `ADA.Lovelace@valid.${ZONE}`, "valid"],
    ["None", "none", "+49 30 1234", "none", "invalid"],
  ]);
});

test("mailproof verify ends a list with its number of temporary results and the command that retries them", async () => {
  const write = (...domains: readonly string[]): string => {
    const file = join(createFolder(), "list.txt");
    writeFileSync(file, domains.map((domain) => `ada.lovelace@${domain}.${ZONE}\n`).join(""));
    return file;
  };
  const verify = async (...domains: readonly string[]) =>
    (await whenRunIn(createFolder(), "verify", "--file", write(...domains))).err;

  const two = await verify("greylist", "servfail", "valid", "nullmx", "overquota");
  const one = await verify("greylist");
  const none = await verify("valid", "nullmx");

  expect(two).toContain(`2 are temporary: "${PROGRAM} file" tries them again.\n`);
  expect(one).toContain(`1 is temporary: "${PROGRAM} file" tries it again.\n`);
  expect(none).not.toContain("temporary");
});

test("mailproof verify --evidence adds the evidence", async () => {
  const { out } = await whenRunIn(
    createFolder(),
    "verify",
    "--evidence",
    `ada.lovelace@valid.${ZONE}`,
  );

  expect(getLines(out)[0]?.evidence).toMatchObject({ rule: "2xx", catch_all: "no" });
});

test("mailproof verify uses other name servers and mail servers by settings alone", async () => {
  const lab = await startLab({ zone: "corp.example", companies: 1 });
  onTestFinished(lab.close);
  const env = {
    MAILPROOF_DIR: createFolder(),
    DNS_SERVERS: lab.dns,
    SMTP_PORT: String(lab.smtpPort),
    SMTP_ALLOW_PRIVATE: lab.smtpAddresses,
  };

  const { out } = await whenRun(
    env,
    "verify",
    "ada.lovelace@valid.corp.example",
    "nobody@valid.corp.example",
  );

  expect(getLines(out).map(({ status }) => status)).toEqual(["valid", "invalid"]);
});

test("mailproof verify never connects to a private address without permission", async () => {
  const lab = await startLab({ zone: "corp.example", companies: 1 });
  onTestFinished(lab.close);
  const env = {
    MAILPROOF_DIR: createFolder(),
    DNS_SERVERS: lab.dns,
    SMTP_PORT: String(lab.smtpPort),
  };

  const { out } = await whenRun(env, "verify", "ada.lovelace@valid.corp.example");

  expect(getLines(out)[0]).toMatchObject({ status: "invalid", reason: "mx_unroutable" });
  expect(lab.stats().sessions).toBe(0);
});

test("Ctrl-C keeps every finished result as a whole line and exits with 130", async () => {
  const folder = createFolder();
  const file = join(folder, "list.txt");
  const quick = Array.from({ length: 50 }, (_row, n) => `not an address ${n}`);
  writeFileSync(file, ["email", ...quick, `ada.lovelace@dnstimeout.${ZONE}`].join("\n"));
  const out = join(folder, "results.jsonl");
  const child = spawnMailproof(["verify", "--file", file, "--out", out], {
    MAILPROOF_DIR: folder,
  });
  while (!written(out).includes("not an address 49")) await setTimeout(20);

  const ended = once(child, "exit");
  child.kill("SIGINT");

  expect(await ended).toEqual([130, null]);
  expect(getLines(written(out))).toHaveLength(50);
});

const written = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

async function* toResults(result: object) {
  yield { result: result as VerificationResult, cells: [] };
}

const show = async (result: object, paint: typeof paintPlain): Promise<string> =>
  (await Array.fromAsync(createTextFormat(paint)(toResults(result)))).join("");

test("control characters of a list do not reach the terminal", async () => {
  const line = await show(
    {
      email: "a@\u001b[31mb\u202e",
      status: "invalid",
      quality_score: 5,
      reason: "syntax.control",
      sub_status: null,
    },
    paintPlain,
  );

  expect(line).toContain("a@�[31mb�");
});

const EVIDENCE: NonNullable<VerificationResult["evidence"]> = {
  dns: [
    {
      type: "MX",
      name: "x.com",
      kind: "ok",
      records: [{ priority: 10, exchange: "mx.x.com" }],
      count: 3,
    },
    { type: "A", name: "mx.x.com", kind: "timeout", records: [], count: 0 },
  ],
  mail_host: "mx.x.com",
  ip: "192.0.2.1",
  bounced_at: "2026-11-20T09:00:00.000Z",
  reply: { code: 550, enhanced: "5.1.1", text: "No such\u001b[2Juser" },
  rule: "no_mailbox",
  catch_all: "not_tested",
  transcript: [
    { ms: 5, who: "server", text: "220 mx.x.com\nready" },
    { ms: 7, who: "client", text: "QUIT" },
    { ms: 9, who: "wire", text: "closed" },
  ],
  score: [
    { part: "invalid", points: 5 },
    { part: "old", points: -2 },
  ],
  lists_edition: "2026.11.21",
  lists: [],
};

test("mailproof verify prints the evidence below its verdict on a terminal: DNS, SMTP dialogue, rule and sum", async () => {
  const result = {
    email: "a@x.com",
    status: "invalid",
    quality_score: 3,
    reason: "no_mailbox",
    sub_status: null,
  };
  const withEvidence = { ...result, evidence: EVIDENCE };

  expect(await show(withEvidence, paintPlain)).toBe(`invalid      3  a@x.com  no_mailbox
  DNS        MX x.com: 10 mx.x.com and 2 more
             A mx.x.com: timeout
  Mail host  mx.x.com (192.0.2.1)
  SMTP           5 ms < 220 mx.x.com
                      < ready
                 7 ms > QUIT
                 9 ms ! closed
  Rule       no_mailbox
  Reply      550 5.1.1 No such�[2Juser
  Catch-all  not tested
  Bounced    2026-11-20T09:00:00.000Z
  Score      5 (invalid) - 2 (old)

`);
  expect(await show(withEvidence, paintAnsi)).toContain("\u001b[31minvalid   \u001b[0m");
});

test("mailproof verify --force replaces an existing file, but never the list itself", async () => {
  const folder = createFolder();
  const [file, out] = [join(folder, "list.csv"), join(folder, "out.csv")];
  writeFileSync(file, "email\nno address\n");
  writeFileSync(out, "older");
  const verify = (...args: readonly string[]) =>
    whenRunIn(folder, "verify", "--file", file, "--out", ...args);

  const refused = await verify(out);
  const forced = await verify(out, "--force");
  const itself = await verify(file, "--force");

  expect(refused).toMatchObject({
    code: 2,
    err: `${out} already exists. Choose another name or add --force.\n`,
  });
  expect(forced.code).toBe(0);
  expect(readFileSync(out, "utf8")).toMatch(/^email,mailproof_email,status/);
  expect(itself).toMatchObject({ code: 2, err: expect.stringContaining("is the list itself") });
  expect(readFileSync(file, "utf8")).toBe("email\nno address\n");
});

test("mailproof verify reads an operator's own list entries from the folder", async () => {
  const folder = createFolder();
  writeFileSync(join(folder, "lists.txt"), `+disposable valid.${ZONE}\n`);

  const { out } = await whenRunIn(folder, "verify", `ada.lovelace@valid.${ZONE}`);

  expect(getLines(out)[0]).toMatchObject({ status: "disposable", reason: "listed_disposable" });
});
