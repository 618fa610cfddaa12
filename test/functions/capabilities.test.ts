import { getAccount } from "@mailproof/api/endpoints/get-account";
import { withDns } from "@mailproof/functions/capabilities/dns";
import { withMailServers } from "@mailproof/functions/capabilities/mail-servers";
import { lambda } from "@mailproof/functions/lambda";
import { createBaseContext, createLambdaWorld } from "@mailproof/functions/lambda-world";
import { createLog } from "@mailproof/functions/log";
import { WITHHELD } from "@mailproof/functions/settings";
import { readTableVersion, TABLE_VERSION } from "@mailproof/functions/table-version";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { BLOCKLISTS } from "@mailproof/mail/blocklists/lists";
import { expect, test } from "vitest";
import { toEvent } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";

// What a Lambda's settings make of its ways out.

const BY_LAMBDA = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "of its role",
  AWS_SECRET_ACCESS_KEY: "of its role",
};
const WORLD_SETTINGS = {
  ...BY_LAMBDA,
  KEY_PEPPER: "a pepper for the tests",
  CURSOR_SECRET: "a secret for the tests",
  ACTIVITY_KEY: "an activity key for tests",
  SEALING_KEY: "a sealing key for tests",
};

const zonesWith = (settings: Readonly<Record<string, string>>) =>
  createLambdaWorld([withDns], { ...WORLD_SETTINGS, ...settings })
    .names.blocklists.listsFor("example.com")
    .map(({ zone }) => zone);

test("a deployment asks the blocklists of its setting, by zone or by our name for them", () => {
  expect(zonesWith({ BLOCKLISTS: "UCEPROTECT-1, bl.example.org" })).toEqual([
    "dnsbl-1.uceprotect.net",
    "bl.example.org",
  ]);
});

test("a deployment without the setting asks all blocklists that we know", () => {
  expect(zonesWith({ BLOCKLISTS: "" })).toEqual(BLOCKLISTS.map(({ zone }) => zone));
});

test("a Lambda that only talks to mail servers holds no secret of an account", () => {
  const { engine } = withMailServers(createBaseContext(BY_LAMBDA));

  expect(engine.probe).toBeTypeOf("function");
});

test("a Lambda logs addresses and keys only as hashes", () => {
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  const log = createLog({ info: write, warn: write, error: write });

  log("failure", {
    cause: new Error("no ann@example.com"),
    key: "mp_live_4gdBlMBzgKh5AYrHyhuzHd12XFan",
  });

  const written = JSON.stringify(lines);
  expect(written).toContain("failure");
  expect(written).not.toContain("ann@");
  expect(written).not.toContain("4gdBl");
});

test("a Lambda throws the name of a missing or withheld secret when its code reads that secret", () => {
  const { settings } = createLambdaWorld([], { ...BY_LAMBDA, SEALING_KEY: `${WITHHELD}0a1b` });

  expect(() => settings.keyPepper).toThrow("The setting KEY_PEPPER is missing.");
  expect(() => settings.encryptionKey).toThrow("The setting SEALING_KEY is missing.");
});

test("a Lambda logs a bug with the request id from API Gateway", async () => {
  const { world, liveKey, logged } = await given();
  const faulty = {
    ...world,
    table: { ...world.table, get: () => Promise.reject(new Error("gone")) },
  };
  const sent = { method: "GET", url: "/v1/account", headers: [["x-api-key", liveKey] as const] };

  const answer = await lambda(getAccount, faulty)(toEvent(sent), createContext());

  expect(answer.statusCode).toBe(503);
  expect(logged).toMatchObject([{ event: "failure", fields: { requestId: "JKJaXmPLvHcESHA=" } }]);
});

const createTable = () => createSqliteTable(":memory:", () => new Date());
const KEY = { pk: "STATE", sk: "VERSION" };

test("a table without a version counts as version 1 and stores that version", async () => {
  const table = createTable();

  expect(await readTableVersion(table)).toBe(1);
  expect(await table.get(KEY)).toMatchObject({ version: 1 });
  expect(await readTableVersion(table)).toBe(1);
});

test("a Lambda refuses the table of a newer release with the ways out and leaves it unchanged", async () => {
  const table = createTable();
  await table.write({ put: { ...KEY, version: TABLE_VERSION + 1 } });

  await expect(readTableVersion(table)).rejects.toThrow(
    /newer Mailproof \(2 > 1\)\. Use that release, or restore/,
  );
  expect(await table.get(KEY)).toMatchObject({ version: TABLE_VERSION + 1 });
});

test("a newer release reads an older table's version and leaves it to the upgrade", async () => {
  const table = createTable();
  await readTableVersion(table);

  expect(await readTableVersion(table, TABLE_VERSION + 1)).toBe(1);
});
