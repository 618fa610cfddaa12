import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NODE_OPTIONS } from "../../scripts/node-options.ts";

test.each(["package.json", "docs/operating.md"])(
  "%s starts the server with the options that the packages and the benches start it with",
  (file) => {
    const [, options = ""] =
      /\bnode (.*?) --import \.\/scripts\/need-node\.mjs packages\/local\/src\/server\/main\.ts/.exec(
        readFileSync(file, "utf8"),
      ) ?? [];

    expect(options.split(" ")).toEqual(NODE_OPTIONS);
  },
);
