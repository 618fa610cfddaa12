import { afterEach } from "vitest";
import { takeFindings } from "../app/log-lines.ts";

afterEach(() => {
  const found = takeFindings();
  if (found.length > 0) throw new Error(found.join("\n"));
});
