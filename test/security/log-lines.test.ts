import { endpoints } from "@mailproof/api/endpoints";
import type { AppWorld } from "@mailproof/core/app-world";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { findSecrets, formatLine, takeFindings, watchLine } from "../app/log-lines.ts";
import { send } from "../app/send.ts";
import { createBody, useEverything } from "./used-account.ts";

// Goal: a reader of our logs learns no key, no address, no secret and no link that grants access.
// Method: every line of the whole test run is looked at (log-lines.ts). Here it is shown that the look finds
// something, and lines are provoked: every port of every route fails, with secrets in its error.

const KEY = "mp_live_4gdBlMBzgKh5AYrHyhuzHd12XFan";
const LINK = "https://b.s3.example/x?X-Amz-Credential=AKIA1&X-Amz-Signature=abcd";
const SECRETS = [
  ["an API key", `with ${KEY}`],
  ["an address", "to ann.lee+x@secret.example: 550"],
  ["an address", "to анна@пример.рф"],
  ["an address in a link", "GET /v1/activity/ann%40secret.example"],
  ["an address in a link", "GET /v1/activity/ann%2540secret.example"],
  ["a signing secret", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
  ["a token", "Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmVk"],
  ["a link that opens", LINK],
  ["a session", `cookie: a=b; __Host-mailproof=${"c2Vj".repeat(11)}`],
  ["an invitation", `https://a.example/app/link#${"c2Vj".repeat(11)}`],
  ["a way to no mail", `POST /v1/mail/unsubscribe?token=${"c2Vj".repeat(11)}`],
  ["a link that opens", "http://127.0.0.1:8787/blobs/a?until=1&signature=c2VjcmV0"],
] as const;

test.each(SECRETS)("the secret check finds %s in a line: %s", (what, text) => {
  expect(findSecrets(JSON.stringify({ event: "failure", cause: text }))).toContain(what);
  watchLine(text);
  expect(takeFindings().join()).toContain(what);
});

test.each(SECRETS)("the log removes %s from a line: %s", (_what, text) => {
  const line = formatLine("failure", { cause: new Error(text), deep: [{ [text]: text }] });

  expect(findSecrets(line)).toEqual([]);
  // The line has the path of this file, and a path may have any few letters.
  expect(line).not.toMatch(/ann[.%]|анна|4gdBl|AKIA1|c2Vj|b5sSY|zdWIi/);
});

test("the log removes a quoted local part from a line", () => {
  const line = formatLine("failure", { cause: 'to "ann lee"@secret.example and "o\\"k"@x.org' });

  expect(line).not.toMatch(/ann lee|"o|secret\.example/);
});

test("the secret check accepts ordinary words and stacks", () => {
  const { stack } = new Error("it broke");

  expect(
    findSecrets(formatLine("failure", { requestId: "req_1", code: "INTERNAL", stack })),
  ).toEqual([]);
  expect(findSecrets("at node_modules/@smithy/core/index.js:1:2 (a@b)")).toEqual([]);
});

const SECRET_TEXT = SECRETS.map(([, text]) => text).join(" ");

/** The nth use of a port fails, with an error that holds everything secret. */
const breakNthUse = (world: AppWorld, nth: number): { world: AppWorld; uses: () => number } => {
  let used = 0;
  const breakPort = <D extends "table" | "queue" | "blobs" | "names" | "engine" | "https">(
    port: D,
  ) =>
    Object.fromEntries(
      Object.entries(world[port]).map(([name, part]: [string, unknown]) => [
        name,
        typeof part === "function" && name !== "now" && name !== "onVerification"
          ? (...args: readonly unknown[]): unknown => {
              if (++used === nth) return Promise.reject(new Error(SECRET_TEXT));
              return (part as (...all: readonly unknown[]) => unknown)(...args);
            }
          : part,
      ]),
    ) as AppWorld[D];
  return {
    uses: () => used,
    world: {
      ...world,
      table: breakPort("table"),
      queue: breakPort("queue"),
      blobs: breakPort("blobs"),
      names: breakPort("names"),
      engine: breakPort("engine"),
      https: breakPort("https"),
    },
  };
};

test.each(endpoints.map(({ route }) => route))(
  "the route %s fails without logging a secret",
  async (route) => {
    const ctx = await given({ balance: 1_000 });
    const own = await useEverything(ctx, ctx.liveKey, "own");
    const ids = route.includes("webhooks") ? own.webhook : own.job;
    const what = route
      .replace("{delivery_id}", own.delivery)
      .replace("{id}", route.includes("check") ? own.check : ids)
      .replace(/\{email\}|\{domain\}/, "secret.example");

    for (let nth = 1; nth < 40; nth++) {
      const { world, uses } = breakNthUse(ctx.world, nth);
      const body = await createBody(route, ctx, ctx.liveKey);
      const response = await send(world, what, { key: ctx.liveKey, body }).catch(String);
      await whenWorked({ ...ctx, world });
      const messageText = typeof response === "string" ? response : response.text;

      expect(messageText).not.toMatch(/4gdBl|AKIA1|c2Vj|b5sSY|zdWIi|анна|ann\.lee\+x/);
      if (uses() < nth) break;
    }

    const lines = ctx.logged.map(({ event, fields }) => formatLine(event, fields));
    expect(lines.flatMap(findSecrets)).toEqual([]);
  },
);
