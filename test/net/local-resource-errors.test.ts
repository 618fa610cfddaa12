import { execFileSync } from "node:child_process";
import { isOwnError } from "@mailproof/net/local-resource-errors";
import { expect, test } from "vitest";

/** What a process comes to that may open so many files, and has opened them all. */
const whenStarved = (limit: number): unknown => {
  const command = `ulimit -n ${limit}; exec "$0" --no-warnings test/net/starved.ts`;
  return JSON.parse(execFileSync("bash", ["-c", command, process.execPath]).toString());
};

test("a process without descriptors says that it failed itself, wherever it looks", () => {
  expect(whenStarved(64)).toEqual({
    dns: "internal",
    oddName: "internal",
    smtp: "internal",
    proxy: "internal",
    https: { kind: "failed", why: "internal" },
    withoutDns: "unknown internal",
    withDns: "unknown internal",
    counted: true,
    dnsAfterwards: "servfail",
  });
});

test.each(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL"])(
  "%s is an error of this machine, alone, as a cause and among others",
  (code) => {
    const error = Object.assign(new Error(code), { code });

    expect(isOwnError(error)).toBe(true);
    expect(isOwnError(new Error("the file could not be read", { cause: error }))).toBe(true);
    expect(isOwnError(new AggregateError([new Error("another"), error]))).toBe(true);
  },
);

test.each(["ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "ENOTFOUND"])(
  "%s is no error of this machine",
  (code) => {
    expect(isOwnError(Object.assign(new Error(code), { code }))).toBe(false);
  },
);
