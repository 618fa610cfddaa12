import { getAccount } from "@mailproof/api/endpoints/get-account";
import { lambda } from "@mailproof/functions/lambda";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { createLog } from "@mailproof/functions/log";
import { expect, test } from "vitest";
import { createContext } from "../aws/events.ts";
import { toEvent } from "../gateway.ts";
import { given } from "../given.ts";

test("addresses and keys reach the log of a Lambda only as hashes", () => {
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

test("a Lambda without its pepper does not start, and says what is missing", () => {
  expect(() => createLambdaWorld()).toThrow("The setting KEY_PEPPER is missing.");
});

test("a bug in a Lambda is logged with the id that API Gateway gave the request", async () => {
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
