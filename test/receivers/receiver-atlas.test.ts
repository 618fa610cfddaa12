import { readFileSync } from "node:fs";
import { formatAtlas } from "@mailproof/lab/receivers/receiver-atlas";
import { RECEIVERS } from "@mailproof/lab/receivers/receivers";
import { UNDOCUMENTED } from "@mailproof/lab/receivers/undocumented";
import { MAIL_PROVIDERS } from "@mailproof/mail/mail-provider-table";
import { expect, test } from "vitest";

test("docs/receivers.md has the receivers as the lab plays them", () => {
  const page = readFileSync("docs/receivers.md", "utf8");
  const entries = page.slice(page.indexOf("## Documented receivers"));

  expect(entries, "run: npx node scripts/write-receivers-page.mjs").toBe(`${formatAtlas()}\n`);
});

test("each provider of the engine's table has one entry", () => {
  const providers = [...new Set(MAIL_PROVIDERS.map(({ name }) => name))].toSorted();
  const documented: readonly string[] = RECEIVERS.map(({ id }) => id);
  const undocumented = Object.keys(UNDOCUMENTED);
  const entries = [...documented, ...undocumented];

  expect(providers.filter((name) => !entries.includes(name))).toEqual([]);
  expect(undocumented.filter((id) => documented.includes(id))).toEqual([]);
});
