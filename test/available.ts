import { existsSync } from "node:fs";
import { describe } from "vitest";

/**
 * A suite over a file that lies outside this repository. Where the file is absent the suite is left out and says
 * so; under CI that is a failure, since nobody reads what a green run prints.
 */
export const describeWith = (path: string, name: string, suite: () => void): void => {
  const isThere = existsSync(path);
  if (!isThere && process.env["CI"]) throw new Error(`${name} needs ${path}, which is absent.`);
  if (!isThere) console.warn(`Left out: ${name} needs ${path}, which is absent.`);
  describe.runIf(isThere)(`${name}`, () => {
    suite();
  });
};

/**
 * A suite over machinery that few have, and that CI need not have either: where there is a reason against it, the
 * suite is left out and says why.
 */
export const describeUnless = (reason: string | null, name: string, suite: () => void): void => {
  if (reason !== null) console.warn(`Left out: ${name}: ${reason}.`);
  describe.runIf(reason === null)(`${name}`, () => {
    suite();
  });
};

/** Every implementation of a door, by what it stands on, and the file it needs where it needs one. */
export type Doors<Open> = readonly (readonly [on: string, open: Open, needs?: string])[];

/** One suite for all of them: one behaviour, whatever stands behind. */
export const describeDoors = <Open>(
  what: string,
  doors: Doors<Open>,
  suite: (open: Open) => void,
): void => {
  for (const [on, open, needs = "."] of doors)
    describeWith(needs, `${what} ${on}`, () => {
      suite(open);
    });
};
