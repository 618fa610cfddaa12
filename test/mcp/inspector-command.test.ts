import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

// npm run test:all -- mcp runs the command that docs/mcp.md prints. Here: that it can be copied from there as it stands.

test("the inspector's command stands on one line, asks nothing, and names a version", () => {
  const page = readFileSync("docs/mcp.md", "utf8");
  const commands = page
    .split("\n")
    .filter((line) => line.includes("modelcontextprotocol/inspector"));

  expect(commands).toEqual([
    expect.stringMatching(
      /^npx --yes @modelcontextprotocol\/inspector@\d+\.\d+\.\d+ --cli <mcp_url> --transport http --header "Authorization: Bearer <the key>" --method tools\/list$/,
    ),
  ]);
});
