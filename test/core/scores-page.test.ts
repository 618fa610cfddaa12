import { readFileSync } from "node:fs";
import { CAPS, MODEL_VERSION, WEIGHTS } from "@mailproof/core/deliverability/score";
import {
  HIGH_FROM,
  LISTING_MAX,
  MEDIUM_FROM,
  NEGATIVE,
  POSITIVE,
} from "@mailproof/core/deliverability/spam-assessment";
import { CANDIDATES_MAX } from "@mailproof/core/find/candidates";
import {
  CATCH_ALL_WEIGHT,
  IDENTITY_SHARES,
  VERDICT_WEIGHTS,
} from "@mailproof/core/find/confidence";
import { listNameForms } from "@mailproof/core/find/name-forms";
import type { Status } from "@mailproof/core/verify/result";
import { ADJUSTMENTS, BANDS, START_SCORES } from "@mailproof/core/verify/score";
import { BLOCKLISTS } from "@mailproof/mail/blocklists/lists";
import { DKIM_RULES } from "@mailproof/mail/dkim/rules";
import { DMARC_RULES } from "@mailproof/mail/dmarc/rules";
import { PTR_RULES } from "@mailproof/mail/dns/reverse-dns";
import { GRADES } from "@mailproof/mail/grade";
import { HINT_RULES, NOTE_RULES } from "@mailproof/mail/hints/rules";
import type { IssueRules } from "@mailproof/mail/issue-rules";
import { createLists } from "@mailproof/mail/lists/lists";
import { MX_RULES } from "@mailproof/mail/mx/rules";
import { PATTERNS } from "@mailproof/mail/signals/address-patterns";
import { isBot, scoreBotLikeness } from "@mailproof/mail/signals/bot";
import { listCatchAllParts, scoreCatchAll } from "@mailproof/mail/signals/catch-all-score";
import { scoreNameLikeness } from "@mailproof/mail/signals/name-likeness";
import { suggestTypo } from "@mailproof/mail/signals/typo";
import { SPF_RULES } from "@mailproof/mail/spf/rules";
import { describe, expect, test } from "vitest";
import {
  areaUnderCurve,
  calibration,
  humanLocals,
  machineLocals,
} from "../mail/signals/local-part-lab.ts";
import { LOCALS_BY_COUNTRY } from "../mail/signals/names-of-countries.ts";
import { PROVIDERS } from "../mail/signals/providers.ts";
import { deadDomains } from "../mail/signals/typo-lab.ts";

// Goal: what docs/scores.md publishes about each number is what the lab measures today.
// Method: the tables are made here, printed, and looked for in the page. When a weight changes on purpose, copy
// the printed table into the page.

/** The formatter pads the page's tables, which is of no meaning. */
const removePadding = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");
const page = removePadding(readFileSync("docs/scores.md", "utf8"));
const publish = (heading: string, text: string) => {
  console.info(`${heading}\n${text}\n`);
  return removePadding(text);
};

const FIFTHS = [0, 0.2, 0.4, 0.6, 0.8, 1];

const formatArea = (high: readonly number[], low: readonly number[]) =>
  `Area under the curve: ${areaUnderCurve(high, low).toFixed(3)}.`;

const formatMeasured = (
  high: readonly [string, readonly number[]],
  low: readonly [string, readonly number[]],
  bounds: readonly number[],
) => `${calibration(high, low, bounds)}\n\n${formatArea(high[1], low[1])}`;

test("the page shows how well name likeness separates people from machines", () => {
  const sentence = formatArea(
    humanLocals.map(scoreNameLikeness),
    machineLocals.map(scoreNameLikeness),
  );

  expect(page).toContain(publish("Name likeness", sentence));
});

test("the page shows the calibration of catch_all_confidence", () => {
  const confidence = (local: string) => scoreCatchAll(local, { isRole: false, pattern: null });
  const table = formatMeasured(
    ["people", humanLocals.map(confidence)],
    ["machines", machineLocals.map(confidence)],
    FIFTHS.filter((bound) => bound <= 0.6),
  );

  expect(page).toContain(publish("catch_all_confidence, pattern unknown", table));
});

test("the page shows the calibration of bot likeness, and what its threshold catches", () => {
  const table = formatMeasured(
    ["machines", machineLocals.map(scoreBotLikeness)],
    ["people", humanLocals.map(scoreBotLikeness)],
    FIFTHS,
  );
  const percent = (locals: readonly string[]) =>
    ((100 * locals.filter(isBot).length) / locals.length).toFixed(1);
  const sentence = `Flagged: ${percent(machineLocals)} % of the machines, ${percent(humanLocals)} % of the people.`;

  expect(page).toContain(publish("Bot likeness", `${table}\n\n${sentence}`));
});

const FLAGGED_PERCENT_MAX = 0.3;

test("the page shows how many names of each country are flagged as generated: at most 3 in 1,000", () => {
  const measured = LOCALS_BY_COUNTRY.map(({ title, locals }) => ({
    title,
    locals: locals.length,
    percent: (100 * locals.filter(isBot).length) / locals.length,
  }));
  const locals = measured.reduce((sum, { locals: count }) => sum + count, 0);
  const worst = measured
    .toSorted((one, other) => other.percent - one.percent)
    .slice(0, 5)
    .map(({ title, percent }) => `${title} ${percent.toFixed(2)} %`)
    .join(", ");
  const sentence = `Of ${locals} local parts in ${measured.length} countries' spellings the most flagged are: ${worst}.`;

  expect(measured.length).toBeGreaterThanOrEqual(25);
  expect(measured.filter(({ percent }) => percent > FLAGGED_PERCENT_MAX)).toEqual([]);
  expect(page).toContain(publish("bot_generated by country", sentence));
});

const { rareEnding } = createLists();

test("the page shows what each status begins with, its band, and what each part adds", () => {
  const statuses = Object.entries(START_SCORES).map(
    ([status, base]) =>
      `| \`${status}\` | ${base} | ${BANDS[status as Status].least} to ${BANDS[status as Status].most} |`,
  );
  const parts = ADJUSTMENTS.map(({ part, points }) => `${part} ${points}`);

  for (const row of statuses) expect(page).toContain(row);
  expect(page.replaceAll("\n", " ")).toContain(`Parts: ${parts.join("; ")}.`);
});

test("the page shows how often a typo suggestion is right", () => {
  const sentenceText = deadDomains.map(({ typed, meant }) => {
    const hasRareEnding = rareEnding(typed);
    const signals = { mailWorks: false, squatOf: null, hasRareEnding };
    const advice = suggestTypo({ local: "ann", domain: typed }, signals, PROVIDERS);
    return { ...advice, meant, isRight: advice.suggestion === `ann@${meant}` };
  });
  const rows = [0.5, 0.6, 0.7, 0.8, 0.9, 0.99].map((from, at, all) => {
    const to = all[at + 1] ?? 1;
    const here = sentenceText.filter(
      ({ confidence }) => (confidence ?? 0) >= from && (confidence ?? 0) < to,
    );
    const right = here.filter(({ isRight }) => isRight).length;
    return `| ${from} | ${here.length} | ${right} | ${(right / here.length).toFixed(2)} |`;
  });
  const typos = sentenceText.filter(({ meant }) => meant !== null);
  const firms = sentenceText.filter(({ meant }) => meant === null);
  const misled = firms.filter(({ suggestion }) => suggestion !== null).length;
  const found = typos.filter(({ isRight }) => isRight).length;
  const sentence = `Of ${typos.length} typos ${found} were corrected; of ${firms.length} dead firms ${misled} got a suggestion.`;
  const table = [
    "| confidence from | suggestions | right | share |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");

  expect(page).toContain(publish("Typo confidence", `${table}\n\n${sentence}`));
});

const examples = [
  ...page.matchAll(
    /^\| (\S+) \| (yes|no) \| (\S+) \| (\S+) \| (-?[\d.]+(?: \| -?[\d.]+){7}) \|$/gm,
  ),
].map(([, local = "", role, pattern = "", sent = "", numbers = ""]) => ({
  local,
  role,
  pattern,
  sent,
  numbers,
}));

/** "12+8": twelve addresses whose mail was delivered, and eight whose mail bounced. */
const readSent = (text: string) => {
  const [delivered = 0, bounced = 0] = text === "-" ? [] : text.split("+").map(Number);
  return { delivered, bounced };
};

test("the page's examples of catch_all_confidence add up as the code does", () => {
  const made = examples.map(({ local, role, pattern, sent }) => {
    const signals = {
      isRole: role === "yes",
      pattern: pattern === "-" ? null : pattern,
      mail: readSent(sent),
    };
    const values = listCatchAllParts(local, signals).map(({ value }) => value);
    return [...values, scoreCatchAll(local, signals)].map((n) => n.toFixed(2)).join(" | ");
  });

  expect(made).toHaveLength(4);
  expect(made).toEqual(examples.map(({ numbers }) => numbers));
});

describe("scores page", () => {
  // Goal: docs/scores.md has every number of the deliverability score as the code counts it.
  // Method: the tables are made here and compared with the page's. When a number changes on purpose, raise
  // MODEL_VERSION and take over what is printed.

  /** The formatter pads the page's tables, which says nothing. */
  const unpadded = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");
  const page = unpadded(readFileSync("docs/scores.md", "utf8"));

  const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
    [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

  const code = (text: string) => `\`${text}\``;

  type Weight = { readonly severity: string; readonly costPoints: number };

  const listWeights = (rules: IssueRules<string>): readonly (readonly [string, Weight])[] =>
    Object.entries(rules).flatMap(([id, { lesser, ...full }]) =>
      [full, ...(lesser ? [lesser] : [])].map((weight) => [id, weight] as const),
    );

  /** Several rules of SPF have one id, so that the reader sees one issue with several costs. */
  const spfWeights = Object.entries<Weight & { readonly id?: string }>(SPF_RULES).map(
    ([rule, { id = rule, ...weight }]) => [id, weight] as const,
  );

  const weightsById = [
    ...Map.groupBy(
      [
        ...[MX_RULES, DKIM_RULES, DMARC_RULES, PTR_RULES].flatMap((rules) => listWeights(rules)),
        ...spfWeights,
      ],
      ([id]) => id,
    ),
  ].map(([id, weights]) => ({
    id,
    weights: weights
      .map(([, weight]) => weight)
      .toSorted((one, other) => other.costPoints - one.costPoints),
  }));

  const ofOneCost = () => {
    const issues = weightsById.flatMap(({ id, weights: [weight, ...others] }) =>
      weight === undefined || others.length > 0 ? [] : [{ id, ...weight }],
    );
    const groups = Map.groupBy(issues, ({ severity, costPoints }) => `${costPoints} ${severity}`);
    return [...groups]
      .toSorted(([, [one]], [, [other]]) => (other?.costPoints ?? 0) - (one?.costPoints ?? 0))
      .map(([weight, group]) => `- ${weight}: ${group.map(({ id }) => code(id)).join(", ")}`)
      .join("\n");
  };

  const ofSeveralCosts = () =>
    table(
      ["issue", "costs"],
      weightsById
        .filter(({ weights }) => weights.length > 1)
        .map(({ id, weights }) => [
          code(id),
          weights.map(({ costPoints, severity }) => `${costPoints} ${severity}`).join(", "),
        ]),
    );

  const ofLists = () => {
    const listings = BLOCKLISTS.flatMap(({ id, codes }) =>
      Object.entries(codes.meanings)
        // The ZRD has a code for each hour of a day.
        .filter(([at]) => id !== "spamhaus-zrd" || at.endsWith(".24"))
        .map(([at, { costPoints }]) => ({
          id,
          costs: costPoints,
          code: codes.kind === "bits" ? `bit ${at}` : at,
        })),
    );
    return table(
      ["list", "costs", "codes"],
      [...Map.groupBy(listings, ({ id, costs }) => `${code(id)} | ${costs}`)].map(
        ([row, group]) => [row, group.map((listing) => listing.code).join(", ")],
      ),
    );
  };

  /** The rows of tables and lists below a heading, up to the next one. */
  const rowsUnder = (heading: string) =>
    (page.split(`\n### ${heading}\n`)[1] ?? "")
      .split(/\n###? /)[0]
      ?.split("\n")
      .filter((line) => /^[-|] /.test(line)) ?? [];

  const weights = Object.entries(WEIGHTS).map(([id, weight]) => [code(id), weight]);
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
    ["Issues", `${ofOneCost()}\n${ofSeveralCosts()}`],
    ["Blocklists", ofLists()],
  ])("the page has every number of %s as the code counts", (heading, made) => {
    const rows = rowsUnder(heading);
    const expected = unpadded(made).split("\n");
    if (expected.some((row, at) => !rows[at]?.startsWith(row)))
      console.info(`${heading}\n${made}\n`);

    // Columns to the right are the page's own: why a number is what it is.
    expect(rows.map((row, at) => row.slice(0, expected[at]?.length))).toEqual(expected);
  });

  const textUnder = (heading: string) =>
    (page.split(`\n### ${heading}\n`)[1] ?? "").split(/\n###? /)[0]?.replaceAll("\n", " ");

  test.each([
    ["Hints", Object.keys({ ...HINT_RULES, ...NOTE_RULES }).map(code)],
    ["Spam assessment", NEGATIVE.map(({ id, points }) => `${code(id)} ${points}`)],
    ["Spam assessment", POSITIVE.map(({ id }) => code(id))],
    [
      "Spam assessment",
      BLOCKLISTS.flatMap(({ id, spamPoints }) =>
        spamPoints === undefined ? [] : [`${code(id)} ${spamPoints}`],
      ),
    ],
  ])("the page lists under %s each id of the code in its order", (heading, listed) => {
    expect(textUnder(heading)).toContain(listed.join(", "));
  });

  test("the page names the model's version and the bounds of the likelihood", () => {
    expect(page).toContain(`Version of the model: **${MODEL_VERSION}**`);
    expect(textUnder("Spam assessment")).toContain(`its cost, at most ${LISTING_MAX}`);
    expect(page).toContain(`low below ${MEDIUM_FROM}, medium below ${HIGH_FROM}, high from there`);
  });
});

describe("scores page", () => {
  // Goal: docs/scores.md describes a search as the tables in core/find do.

  const page = readFileSync("docs/scores.md", "utf8");
  const part = page.slice(page.indexOf("## Finding an address"), page.indexOf("## Deliverability"));

  test("the page shows every pattern and its share", () => {
    const shares = Object.entries(PATTERNS).map(([pattern, share]) => `\`${pattern}\` ${share}`);

    expect(part.replaceAll("\n", " ")).toContain(shares.join(", "));
  });

  test("the page shows how each reply lowers the confidence", () => {
    const percent = (weight: number) => Math.round(weight * 100);

    expect(part).toMatch(new RegExp(`valid\\W+${percent(VERDICT_WEIGHTS.valid)} × own`));
    expect(part).toMatch(new RegExp(`risky\\W+${percent(VERDICT_WEIGHTS.there)} × own`));
    expect(part).toMatch(
      new RegExp(`\\| ${percent(VERDICT_WEIGHTS.unproven)} × own .* would not show`),
    );
    expect(part).toMatch(new RegExp(`role\\W+${percent(VERDICT_WEIGHTS.role)} × own`));
    expect(part).toMatch(new RegExp(`catch_all\\W+${percent(CATCH_ALL_WEIGHT)} × p`));
    for (const identity of Object.values(IDENTITY_SHARES))
      expect(part).toContain(identity.toFixed(2));
    expect(part).toContain(`At most ${CANDIDATES_MAX} guesses`);
  });

  test.each([
    ["Jean-Luc", "first"],
    ["Anna Maria", "first"],
    ["van der Berg", "last"],
    ["da Silva Santos", "last"],
    ["Smith-Jones", "last"],
    ["García López", "last"],
    ["Müller", "last"],
    ["Дмитрий", "first"],
  ] as const)("the page shows how %s is written", (name, as) => {
    const forms =
      listNameForms({ first: "Ann", last: "Lee", [as]: name }, "example.com")?.[as] ?? [];

    const row = part.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "";
    for (const { text, weight } of forms) expect(row).toContain(`${text} ${weight.toFixed(2)}`);
  });
});
