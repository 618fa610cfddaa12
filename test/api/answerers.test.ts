import { orderAnswerers } from "@mailproof/api/http/answerers";
import { expect, test } from "vitest";

test("orderAnswerers asks the dashboard before the documents, since both answer a browser's root", () => {
  const answer = () => undefined;

  const ordered = orderAnswerers({ documents: answer, dashboard: answer, mcp: undefined });

  expect(ordered.map(({ route }) => route)).toEqual(["dashboard", "document"]);
});
