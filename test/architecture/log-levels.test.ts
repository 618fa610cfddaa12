import { globSync, readFileSync } from "node:fs";
import { LOG_LEVELS } from "@mailproof/core/runtime/log-levels";
import { expect, test } from "vitest";

/** The packages whose code logs. */
const LOGGING = ["core", "api", "net", "mcp", "functions", "local"];

/** The event is the first argument, a string or a choice of two. */
const CALL = /\blog(?:\?\.)?\(\s*(?:[\w.]+ \? )?"(\w+)"(?: : "(\w+)")?/g;
const HIDDEN = /\bhideCause\(\s*[\w.]+,\s*"(\w+)"/g;

test("every event that is logged has a level, and every level has an event", () => {
  const texts = LOGGING.flatMap((name) => globSync(`packages/${name}/src/**/*.ts`)).map((file) =>
    readFileSync(file, "utf8"),
  );
  const logged = texts.flatMap((text) =>
    [...text.matchAll(CALL), ...text.matchAll(HIDDEN)].flatMap(([, ...events]) =>
      events.filter((event) => event !== undefined),
    ),
  );

  expect(Object.keys(LOG_LEVELS).toSorted()).toEqual([...new Set(logged)].toSorted());
});
