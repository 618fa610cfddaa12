import { afterEach } from "vitest";
import { foundInLines } from "./log-lines.ts";

afterEach(() => {
  const found = foundInLines();
  if (found.length > 0) throw new Error(found.join("\n"));
});
