import { existsSync, readFileSync } from "node:fs";
import { describe, TestRunner } from "vitest";
import { isOverMoto } from "../aws/shape.ts";

// What a suite may need that not every clone has. Where it is absent the suite is left out, and the last lines of the
// run say so (test/runner/results.reporter.ts).

/** Files that are next to this repository in some places, and never in a plain clone. */
const FILES_BESIDE = {
  spfCases: "../shared/data/spf/rfc7208-tests.json",
  smtpReplies: "../shared/data/smtp/replies.jsonl",
  moreSmtpReplies: "../shared/data/smtp/replies-2.jsonl",
} as const;

/**
 * A suite over one of the files next to this repository. `read` can be called inside a test only: the body of a suite
 * runs while tests are collected, even when the suite is left out, and an absent file would fail the run.
 */
export const createDescribe = (
  file: keyof typeof FILES_BESIDE,
  name: string,
  suite: (read: () => string) => void,
): void => {
  const path = FILES_BESIDE[file];
  describeUnless(findAbsenceBeside(path), name, () => suite(readInTest(path)));
};

/** With FILES_BESIDE=none, as scripts/test-all.ts runs npm test, this clone has nothing beside it. */
const findAbsenceBeside = (path: string): string | null =>
  process.env["FILES_BESIDE"] === "none" ? `${path} is hidden` : findAbsence(path);

export const readInTest = (path: string) => (): string => {
  if (TestRunner.getCurrentTest() === undefined)
    throw new Error(`${path} may be absent: read it inside a test.`);
  return readFileSync(path, "utf8");
};

const findAbsence = (path: string): string | null =>
  existsSync(path) ? null : `there is no ${path}`;

/**
 * A suite over a file that `npm ci` brings where there is a build of it for the platform. Its absence fails the run
 * under CI: what a green run prints is not read.
 */
export const describeWith = (path: string, name: string, suite: () => void): void => {
  const reason = findAbsence(path);
  if (reason !== null && process.env["CI"]) throw new Error(`${name}: ${reason}.`);
  describeUnless(reason, name, suite);
};

/** A suite over machinery that few have: where there is a reason against it, the suite is left out and says why. */
export const describeUnless = (reason: string | null, name: string, suite: () => void): void => {
  const meta = reason === null ? {} : { leftOut: reason };
  describe.runIf(reason === null)(`${name}`, { meta }, () => {
    suite();
  });
};

declare module "vitest" {
  interface TaskMeta {
    /** Why the suite is left out. */
    leftOut?: string;
  }
}

/** Every adapter of a port, by what it stands on, and the file it needs where it needs one. */
export type Adapters<Open> = readonly (readonly [on: string, open: Open, needs?: string])[];

/** One suite for all of them: one behaviour, whatever stands behind. */
export const describeAdapters = <Open>(
  what: string,
  adapters: Adapters<Open>,
  suite: (open: Open) => void,
): void => {
  for (const [on, open, needs] of adapters) {
    // What needs no emulator is the same over each of them.
    if (isOverMoto && needs === undefined) continue;
    describeWith(needs ?? ".", `${what} ${on}`, () => {
      suite(open);
    });
  }
};
