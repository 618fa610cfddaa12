import { readFileSync } from "node:fs";
import { listOptions } from "@mailproof/local/cli/command-options";
import { commands } from "@mailproof/local/cli/commands";
import { loadCommands } from "@mailproof/local/cli/define-command";
import { isOfOperator } from "@mailproof/local/cli/help";
import { formatReference } from "@mailproof/local/cli/reference";
import { expect, test } from "vitest";

const loaded = await loadCommands(commands);

const page = (file: string) => readFileSync(file, "utf8");

test.each(commands.map(({ name }) => name))(
  "docs/command-line.md describes mailproof %s",
  (name) => {
    expect(page("docs/command-line.md")).toContain(`npx mailproof ${name}`);
  },
);

test("docs/command-line.md ends with the table that parsing, help and completion are made from", () => {
  const [, reference] = page("docs/command-line.md").split("## Reference\n\n");

  expect(reference, "npx node scripts/write-command-line.ts").toBe(formatReference(loaded));
});

test("every option of a command that is not the operator's has a description", () => {
  const silent = loaded
    .filter((command) => !isOfOperator(command))
    .flatMap((command) => listOptions(command).map((option) => ({ command, option })))
    .filter(({ option }) => option.text === "");

  expect(silent.map(({ command, option }) => `${command.name} --${option.name}`)).toEqual([]);
});

/** As infra/cdk names them; what stands behind a name that is made is another for each queue, Lambda or zone. */
const alarms = ["alarms", "lambda-alarms"].flatMap((file) =>
  [...page(`infra/cdk/${file}.ts`).matchAll(/id: ["`](\w+-?)/g)].map(([, id = ""]) => id),
);

test.each([...new Set(alarms)])("docs/operating.md says what to do when %s rings", (id) => {
  expect(page("docs/operating.md")).toMatch(new RegExp(`^\\| [^|]*\`${id}(?:…[-\\w]*)?\``, "m"));
});

test("a README has at most 150 lines, so that a newcomer reads it at once", () => {
  expect(page("README.md").split("\n").length).toBeLessThanOrEqual(150);
});
