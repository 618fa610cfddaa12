import { withDns } from "@mailproof/functions/capabilities/dns";
import { withMailServers } from "@mailproof/functions/capabilities/mail-servers";
import { createBaseContext, createLambdaWorld } from "@mailproof/functions/lambda-world";
import { BLOCKLISTS } from "@mailproof/mail/blocklists/lists";
import { expect, test } from "vitest";

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

test("the blocklists that a deployment names are asked, by zone or by our name for them", () => {
  expect(zonesWith({ BLOCKLISTS: "UCEPROTECT-1, bl.example.org" })).toEqual([
    "dnsbl-1.uceprotect.net",
    "bl.example.org",
  ]);
});

test("where it names none, it is those that we know", () => {
  expect(zonesWith({ BLOCKLISTS: "" })).toEqual(BLOCKLISTS.map(({ zone }) => zone));
});

test("a Lambda that only talks to mail servers knows no secret of an account", () => {
  const { engine } = withMailServers(createBaseContext(BY_LAMBDA));

  expect(engine.probe).toBeTypeOf("function");
  expect(() => createLambdaWorld([withMailServers], BY_LAMBDA)).toThrow(
    "The setting KEY_PEPPER is missing.",
  );
});
