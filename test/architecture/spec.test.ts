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

test("an operation is built or on the list of what is not built yet, and never both", () => {
  const missing = SPEC.map(({ route }) => route).filter((route) => !routes.includes(route));

  expect(missing).toEqual([...NOT_BUILT_YET]);
});

/** What a file's tests are called: the first argument of test(…) and of test.each(…)(…), and nothing else in quotes. */
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

    // A story's title says the status it is about: "… is 404". What is alike at all of them every-route.test.ts tells.
    test("has a story for every status of the contract", () => {
      const story = `test/story/${toFileName(endpoint ?? { id: "" })}.test.ts`;
      expect(existsSync(story), `${story} is missing`).toBe(true);
      const titles = titlesIn(readFileSync(story, "utf8"));
      const untold = statuses.filter(
        (status) =>
          status !== 429 && !titles.some((title) => new RegExp(`\\b${status}\\b`).test(title)),
      );

      expect(untold, `${story} tells no story of these`).toEqual([]);
    });
  },
);
