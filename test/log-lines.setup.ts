import { afterEach, expect } from "vitest";
import { foundInLines } from "./log-lines.ts";

afterEach(() => {
  expect(foundInLines()).toEqual([]);
});
