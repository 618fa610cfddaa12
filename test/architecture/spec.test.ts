import { existsSync, readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { toFileName } from "@mailproof/api/http/endpoint";
import { STATUS } from "@mailproof/api/http/http-failure";
import { describe, expect, test } from "vitest";
import { NOT_BUILT_YET, SPEC } from "./spec.ts";

const routes = endpoints.map(({ route }) => route as string);

test("every endpoint is an operation of the contract", () => {
  const unlisted = routes.filter((route) => !SPEC.some((operation) => operation.route === route));

  expect(unlisted, "test/architecture/spec.ts does not list these").toEqual([]);
});

test("an operation is either built or listed as not built yet", () => {
  const missing = SPEC.map(({ route }) => route).filter((route) => !routes.includes(route));

  expect(missing).toEqual([...NOT_BUILT_YET]);
});

/** The titles of a file's tests: the first argument of test(…) and of test.each(…)(…), and no other text in quotes. */
const titlesIn = (source: string): readonly string[] =>
  [
    ...source.matchAll(
      /(?:\b(?:test|describe)|\))\(\s*(?:"([^"\n]*)"|`([^`]*)`),\s*(?:async\s*)?\(/g,
    ),
  ].map(([, quoted, template]) => quoted ?? template ?? "");

describe.each(SPEC.filter(({ route }) => routes.includes(route)))(
  "$route",
  ({ route, statuses }) => {
    const endpoint = endpoints.find((one) => one.route === route);

    test("declares every status of the contract", () => {
      const declared = [
        ...(endpoint?.answers ?? []),
        ...(endpoint?.errors ?? []).map((code) => STATUS[code]),
      ];

      expect(statuses.filter((status) => !declared.includes(status as 200))).toEqual([]);
    });

    // A story's title contains the status it is about: "… is 404". every-route.test.ts has what all routes share.
    test("has a story for every status of the contract", () => {
      const story = `test/story/${toFileName(endpoint ?? { id: "" })}.test.ts`;
      expect(existsSync(story), `${story} is missing`).toBe(true);
      const titles = titlesIn(readFileSync(story, "utf8"));
      const missing = statuses.filter(
        (status) =>
          status !== 429 && !titles.some((title) => new RegExp(`\\b${status}\\b`).test(title)),
      );

      expect(missing, `${story} has no story for these`).toEqual([]);
    });
  },
);
