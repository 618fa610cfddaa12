import { globSync, readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { getMoneySentence, MONEY_OUTCOMES } from "@mailproof/core/lib/failure";
import { expect, test } from "vitest";

// Sentences about money have one author, packages/core/src/lib/failure.ts: two authors contradict each other sooner or later.

const MONEY = /charg|refund|\bpaid\b|\bpays?\b|costs (?:nothing|you)|credits? (?:back|lost)/i;
/** A comment, or a text. */
const TEXTS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** Texts that explain money in general, or to a reader other than the caller of the API. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "packages/core/src/lib/failure.ts": "the author",
  "packages/core/src/money/audit-snapshot.ts": "the invariants of the ledger, for the operator",
  "packages/core/src/jobs/audit-jobs.ts": "the invariants of jobs, for the operator",
  "packages/docs-site/src/": "guides",
  "packages/api/src/openapi/": "descriptions of fields and errors",
  "packages/mcp/src/input.ts": "descriptions of a tool's fields",
  "packages/mcp/src/prompts.ts": "instructions for a model",
  "packages/client/src/": "runs without core; it speaks where the service could not",
  "packages/lab/src/": "descriptions of the lab",
  "packages/local/src/": "the command and the first screen speak where the service could not",
};

/** The descriptions of fields in an endpoint's schemas. */
const descriptionsIn = (value: unknown): string[] => {
  if (typeof value !== "object" || value === null) return [];
  const { type, description } = value as { type?: unknown; description?: unknown };
  if (type === "description") return [description as string];
  return Object.values(value).flatMap(descriptionsIn);
};

const files = globSync("packages/*/src/**/*.ts").toSorted();

const listTexts = (file: string): string[] =>
  (readFileSync(file, "utf8").match(TEXTS) ?? []).filter((sentence) => /^["`].* /s.test(sentence));

test("a response speaks about money only in the author's sentences", () => {
  const general = new Set(
    endpoints.flatMap((one) => [one.price, one.summary, one.tool?.hint, ...descriptionsIn(one)]),
  );
  const found = files
    .filter((file) => !Object.keys(ELSEWHERE).some((prefix) => file.startsWith(prefix)))
    .flatMap((file) => listTexts(file).map((text) => ({ file, text })))
    .filter(({ text }) => MONEY.test(text) && !general.has(text.slice(1, -1)));

  expect(found).toEqual([]);
  expect(
    listTexts("packages/core/src/lib/failure.ts").filter((text) => MONEY.test(text)).length,
  ).toBe(9);
});

/** Where a sentence stands as a copy, and what holds the copy to the original. */
const COPIES: Readonly<Record<string, string>> = {
  "packages/core/src/lib/failure.ts": "the author",
  "packages/api/src/openapi/examples.ts": "real responses, recorded",
  "packages/client/src/errors.ts": "runs without core; the next test",
};

test("each of the author's sentences is written once, and nowhere by hand", () => {
  const sentences = (
    readFileSync("packages/core/src/lib/failure.ts", "utf8").match(/: "[A-Z][^"]*\."/g) ?? []
  ).map((text) => text.slice(3, -1).replace(/ \{.*/, ""));
  const typed = files
    .filter((file) => !(file in COPIES))
    .flatMap((file) =>
      listTexts(file).flatMap((text) =>
        sentences.filter((one) => text.includes(one)).map((one) => `${file}: ${one}`),
      ),
    );

  expect(sentences).toHaveLength(10);
  expect(typed).toEqual([]);
});

test("the client uses the service's words wherever it states the same", () => {
  const sentence = listTexts("packages/client/src/errors.ts").map((text) => text.slice(1, -1));

  expect(sentence).toContain(getMoneySentence("nothing_charged"));
  expect(sentence).toContain(getMoneySentence("refunded"));
});

test("every outcome has a sentence of its own that ends like one", () => {
  const sentences = MONEY_OUTCOMES.map((outcome) => getMoneySentence(outcome));

  expect(new Set(sentences).size).toBe(MONEY_OUTCOMES.length);
  expect(sentences.filter((one) => !/^[A-Z][^{}]*\.$/.test(one))).toEqual([]);
});
