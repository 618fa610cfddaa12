import { readFileSync } from "node:fs";
import { CAPS, MODEL_VERSION, WEIGHTS } from "@mailproof/core/deliverability/score";
import {
  HIGH_FROM,
  LISTING_MAX,
  MEDIUM_FROM,
  NEGATIVE,
  POSITIVE,
} from "@mailproof/core/deliverability/spam-assessment";
import { BLOCKLISTS } from "@mailproof/mail/blocklists/lists";
import { DKIM_RULES } from "@mailproof/mail/dkim/rules";
import { DMARC_RULES } from "@mailproof/mail/dmarc/rules";
import { PTR_RULES } from "@mailproof/mail/dns/reverse-dns";
import { GRADES } from "@mailproof/mail/grade";
import { HINT_RULES, NOTE_RULES } from "@mailproof/mail/hints/rules";
import type { IssueRules } from "@mailproof/mail/issue-rules";
import { MX_RULES } from "@mailproof/mail/mx/rules";
import { SPF_RULES } from "@mailproof/mail/spf/rules";
import { expect, test } from "vitest";

// Goal: docs/scores.md has every number of the deliverability score as the code counts it.
// Method: the tables are made here and compared with the page's. When a number changes on purpose, raise
// MODEL_VERSION and take over what is printed.

/** The formatter pads the page's tables, which says nothing. */
const unpadded = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");
const page = unpadded(readFileSync("docs/scores.md", "utf8"));

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const code = (text: string) => `\`${text}\``;

const ofRules = (rules: IssueRules<string>) =>
  table(
    ["issue", "severity", "costs"],
    Object.entries(rules).map(([id, { severity, costPoints, lesser }]) => [
      code(id),
      lesser && lesser.severity !== severity ? `${severity}, or ${lesser.severity}` : severity,
      lesser ? `${costPoints}, or ${lesser.costPoints}` : costPoints,
    ]),
  );

/** Of SPF, several rules may be one to the reader, who sees them as one with several prices. */
const ofSpf = () => {
  const rules = Object.entries<{
    readonly id?: string;
    readonly severity: string;
    readonly costPoints: number;
  }>(SPF_RULES).map(([rule, { id = rule, ...weight }]) => ({ id, ...weight }));
  const orOf = (values: readonly (string | number)[]) =>
    [...new Set(values)].join(", ").replace(/, (?=[^,]*$)/, ", or ");
  return table(
    ["issue", "severity", "costs"],
    [...Map.groupBy(rules, ({ id }) => id)].map(([id, unsorted]) => {
      const prices = unsorted.toSorted((a, b) => b.costPoints - a.costPoints);
      return [
        code(id),
        orOf(prices.map(({ severity }) => severity)),
        orOf(prices.map(({ costPoints }) => costPoints)),
      ];
    }),
  );
};

const ofLists = () =>
  table(
    ["list", "asks for", "code", "says", "costs", "counts for spam"],
    BLOCKLISTS.flatMap(({ id, asks: condition, codes, spamPoints }) =>
      Object.entries(codes.meanings)
        // The ZRD has a code for each hour of a day.
        .filter(([at]) => id !== "spamhaus-zrd" || at.endsWith(".24"))
        .map(([at, { says: meaning, costPoints }]) => [
          code(id),
          condition,
          codes.kind === "bits" ? `bit ${at}` : at,
          meaning,
          costPoints,
          Math.min(LISTING_MAX, spamPoints ?? costPoints),
        ]),
    ),
  );

/** The rows below a heading, up to the next one. */
const rowsUnder = (heading: string) =>
  (page.split(`\n### ${heading}\n`)[1] ?? "")
    .split(/\n###? /)[0]
    ?.split("\n")
    .filter((line) => line.startsWith("|")) ?? [];

const weights = Object.entries(WEIGHTS).map(([id, weight]) => [code(id), weight]);
const against = NEGATIVE.map(({ id, points, description }) => [code(id), points, description]);
const inFavour = POSITIVE.map(({ id, description }) => [code(id), description]);

test.each([
  ["Weights", table(["component", "weight"], weights)],
  [
    "Caps",
    table(
      ["cap", "score at most"],
      CAPS.map(({ id, atMost }) => [code(id), atMost]),
    ),
  ],
  [
    "Grades",
    table(
      ["grade", "from"],
      GRADES.map(([from, grade]) => [grade, from]),
    ),
  ],
  ["MX rules", ofRules(MX_RULES)],
  ["SPF rules", ofSpf()],
  ["DKIM rules", ofRules(DKIM_RULES)],
  ["DMARC rules", ofRules(DMARC_RULES)],
  ["PTR rules", ofRules(PTR_RULES)],
  [
    "Hints",
    table(
      ["hint"],
      Object.keys({ ...HINT_RULES, ...NOTE_RULES }).map((id) => [code(id)]),
    ),
  ],
  ["Blocklists", ofLists()],
  [
    "Spam assessment",
    `${table(["factor", "points", "because"], against)}\n${table(["factor", "because"], inFavour)}`,
  ],
])("the page has every number of %s as the code counts, and says why", (heading, made) => {
  const rows = rowsUnder(heading);
  const expected = unpadded(made).split("\n");
  if (expected.some((row, at) => !rows[at]?.startsWith(row))) console.info(`${heading}\n${made}\n`);

  // Columns to the right are the page's own: why a number is what it is.
  expect(rows.map((row, at) => row.slice(0, expected[at]?.length))).toEqual(expected);
});

test("the page names the model's version and the bounds of the likelihood", () => {
  expect(page).toContain(`Version of the model: **${MODEL_VERSION}**`);
  expect(page).toContain(`low below ${MEDIUM_FROM}, medium below ${HIGH_FROM}, high from there`);
});
