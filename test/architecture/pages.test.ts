import { readFileSync } from "node:fs";
import { commands } from "@mailproof/local/cli/commands";
import { expect, test } from "vitest";

const page = (file: string) => readFileSync(file, "utf8");

test.each(commands.map(({ name }) => name))(
  "docs/command-line.md tells of mailproof %s",
  (name) => {
    expect(page("docs/command-line.md")).toContain(`npx mailproof ${name}`);
  },
);

/** As infra/cdk names them; what stands behind a name that is made is another for each queue, Lambda or zone. */
const alarms = ["alarms", "lambda-alarms"].flatMap((file) =>
  [...page(`infra/cdk/${file}.ts`).matchAll(/id: ["`](\w+-?)/g)].map(([, id = ""]) => id),
);

test.each([...new Set(alarms)])("docs/operating.md says what to do when %s rings", (id) => {
  expect(page("docs/operating.md")).toMatch(new RegExp(`^\\| [^|]*\`${id}(?:…[-\\w]*)?\``, "m"));
});

test("a README is for strangers: at most 150 lines", () => {
  expect(page("README.md").split("\n").length).toBeLessThanOrEqual(150);
});
