import {
  learnPattern,
  NO_PATTERN_COUNTS,
  type PatternCounts,
  readPatternCounts,
} from "@mailproof/core/calibration/naming";
import { CANDIDATES_MAX, listCandidates } from "@mailproof/core/find/candidates";
import { findAddress, IDENTITY_SHARES } from "@mailproof/core/find/find";
import type { CatchAll, ProbeRequest } from "@mailproof/core/smtp-pool/probe";
import type { Engine } from "@mailproof/core/verify/engine";
import {
  BASE_PATTERNS,
  buildLocal,
  NO_PATTERN,
  PATTERNS,
  type Pattern,
} from "@mailproof/mail/signals/address-patterns";
import type { Finding } from "@mailproof/mail/smtp/classify";
import { expect, test } from "vitest";
import { rejectDown, withTable } from "../../app/faulty-worlds.ts";
import { givenWorld } from "../../app/given.ts";
import { asRows } from "../../runner/as-rows.ts";

const ann = { first: "Ann", last: "Lee" };
const NOTHING = { patternCounts: new Map() as PatternCounts, mailHost: "mx.example.com" };
const createCounts = (...counts: readonly (readonly [Pattern, number])[]): PatternCounts =>
  new Map(counts);

const likeliest = (person: typeof ann, info: Partial<typeof NOTHING> = {}, count = 4) =>
  listCandidates(person, "example.com", { ...NOTHING, ...info })
    .slice(0, count)
    .map(({ local }) => local);

test.each<[Pattern, string]>([
  ["first.last", "ann.lee"],
  ["flast", "alee"],
  ["first", "ann"],
  ["f.last", "a.lee"],
  ["firstlast", "annlee"],
  ["first_last", "ann_lee"],
  ["last.first", "lee.ann"],
  ["firstl", "annl"],
  ["lastf", "leea"],
  ["last", "lee"],
  ["first-last", "ann-lee"],
  ["first.l", "ann.l"],
  ["first_l", "ann_l"],
  ["l.first", "l.ann"],
  ["fl", "al"],
  ["first.m.last", "ann.b.lee"],
  ["fmlast", "ablee"],
  ["f.m.last", "a.b.lee"],
  ["fml", "abl"],
])("the pattern %s builds %s", (pattern, local) => {
  expect(buildLocal(pattern, { first: "ann", f: "a", m: "b", last: "lee", l: "l" })).toBe(local);
});

test("the most common pattern comes first", () => {
  expect(likeliest(ann)).toEqual(["ann.lee", "alee", "ann", "lee"]);
});

test("the shares of the patterns, and of addresses without a pattern, add up to one", () => {
  const sum = BASE_PATTERNS.reduce((total, pattern) => total + PATTERNS[pattern], 0);

  expect(sum + NO_PATTERN).toBeCloseTo(1);
});

test.each([
  ["a middle initial", "Ann B.", "Lee"],
  ["a middle initial without a dot", "Ann B", "Lee"],
  ["an initial before the last name", "Ann", "B. Lee"],
])("the candidates include %s, and also the pattern without the initial", (_, first, last) => {
  const locals = likeliest({ first, last }, {}, CANDIDATES_MAX);

  expect(locals.slice(0, 2)).toEqual(["ann.b.lee", "ann.lee"]);
  expect(locals).toContain("ablee");
});

test("at a domain with first.m.last the candidates use a middle initial of the person, and omit a missing one", () => {
  const patternCounts = createCounts(["first.m.last", 2]);

  expect(likeliest({ first: "Ann B.", last: "Lee" }, { patternCounts }, 2)).toEqual([
    "ann.b.lee",
    "ann.lee",
  ]);
  expect(likeliest(ann, { patternCounts }, 1)).toEqual(["ann.lee"]);
});

test("a second given name adds an initial that is less likely in use", () => {
  const locals = likeliest({ first: "John Fitzgerald", last: "Doe" }, {}, CANDIDATES_MAX);

  expect(locals).toContain("john.f.doe");
  expect(locals.indexOf("jdoe")).toBeLessThan(locals.indexOf("john.f.doe"));
});

test("a person with a second given name as call name adds both initials", () => {
  const locals = likeliest({ first: "J. Robert", last: "Doe" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("robert.doe");
  expect(locals).toEqual(expect.arrayContaining(["jdoe", "rdoe", "jrdoe"]));
});

test("the candidates include a hyphenated name whole before its first letter, and as two letters", () => {
  const locals = likeliest({ first: "Jean-Luc", last: "Picard" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("jean-luc.picard");
  expect(locals).toEqual(expect.arrayContaining(["jpicard", "jlpicard", "jeanluc.picard"]));
});

test("the candidates include particles with an underscore", () => {
  const locals = likeliest({ first: "Jan", last: "van der Berg" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("jan.vanderberg");
  expect(locals).toContain("jan.van_der_berg");
});

test("the candidates include a long name cut, and list the cut form first at a domain that cuts names", () => {
  const person = { first: "Ann", last: "Featherstone" };

  expect(likeliest(person, {}, CANDIDATES_MAX)).toEqual(
    expect.arrayContaining(["afeathe", "afeather"]),
  );
  expect(likeliest(person, { patternCounts: createCounts(["flast6", 1]) }, 1)).toEqual(["afeathe"]);
  expect(likeliest(ann, { patternCounts: createCounts(["flast6", 1]) }, 1)).toEqual(["alee"]);
});

test.each([
  ["Дмитрий", "Шмидт", ["dmitry.shmidt", "dmitriy.shmidt"]],
  ["Володимир", "Шевченко", ["volodymyr.shevchenko"]],
  ["Γιώργος", "Παππάς", ["giorgos.pappas"]],
  ["Արմեն", "Պետրոսյան", ["armen.petrosyan"]],
  ["გიორგი", "ბერიძე", ["giorgi.beridze"]],
  ["राहुल", "शर्मा", ["rahul.sharma"]],
  ["민준", "김", ["minjun.kim", "mjkim"]],
  ["小明", "李", ["xiaoming.li"]],
  ["たろう", "すずき", ["taro.suzuki"]],
  ["太郎", "鈴木", ["taro.suzuki"]],
])("the candidates write %s %s in plain letters", (first, last, expected) => {
  const locals = likeliest({ first, last }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe(expected[0]);
  expect(locals).toEqual(expect.arrayContaining(expected));
});

test("the candidates list all spellings of a domain's pattern before another pattern", () => {
  const person = { first: "Дмитрий", last: "Иванов" };

  expect(likeliest(person, { patternCounts: createCounts(["last.first", 3]) }, 2)).toEqual([
    "ivanov.dmitry",
    "ivanov.dmitriy",
  ]);
});

test("one found person puts the domain's pattern first and keeps the order of other patterns", () => {
  const naming = createCounts(["last.first", 1]);

  expect(likeliest(ann, { patternCounts: naming })).toEqual(["lee.ann", "ann.lee", "alee", "ann"]);
});

test("the candidates include both patterns of a domain, the more common one first", () => {
  const naming = createCounts(["flast", 2], ["firstl", 5]);

  expect(likeliest(ann, { patternCounts: naming }, 2)).toEqual(["annl", "alee"]);
});

test("a bare given name ranks lower at a company with a mail gateway", () => {
  const mailHost = "eu-smtp-inbound-1.mimecast.com";

  expect(likeliest(ann, { mailHost }).indexOf("ann")).not.toBe(2);
  expect(likeliest(ann, { mailHost }, 3)).toEqual(["ann.lee", "alee", "annlee"]);
});

test("the candidates include both spellings of a name at the likeliest patterns", () => {
  expect(likeliest({ first: "Ann", last: "Müller" })).toEqual([
    "ann.muller",
    "ann.mueller",
    "amuller",
    "ann",
  ]);
});

test("the candidates include swapped names in both orders", () => {
  const locals = likeliest({ first: "Schmidt", last: "Hans" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("hans.schmidt");
  expect(locals).toContain("schmidt.hans");
});

test("no candidate exceeds 64 characters when the names are longer together", () => {
  const locals = likeliest({ first: "x".repeat(60), last: "y".repeat(60) }, {}, CANDIDATES_MAX);

  expect(locals.length).toBeGreaterThan(0);
  expect(locals.every((local) => local.length <= 64)).toBe(true);
});

test("the candidates of the name with the most spellings stay within the maximum", () => {
  const hard = { first: "Jürgen-Søren Åsa", last: "van der Müller-Østergård" };

  expect(listCandidates(hard, "example.com", NOTHING)).toHaveLength(CANDIDATES_MAX);
});

const domain = "example.com";
const ACCEPTED: Finding = {
  verdict: "valid",
  reason: "accepted",
  rule: "2xx",
  confidence: 1,
  retry: null,
  aboutUs: false,
};
const NOT_FOUND: Finding = { ...ACCEPTED, verdict: "invalid", reason: "mailbox_not_found" };

/** A company with these mailboxes and no others. */
const givenCompany = (
  locals: readonly string[],
  { catchAll = "no", answer = ACCEPTED }: { catchAll?: CatchAll; answer?: Finding } = {},
) => {
  const { world } = givenWorld();
  const questions: ProbeRequest[] = [];
  const engine: Engine = {
    ...world.engine,
    probe: async (question) => {
      questions.push(question);
      const guesses = [question.recipient, ...(question.fallbacks ?? [])];
      const at = guesses.findIndex((one) => locals.includes(one.split("@")[0] ?? ""));
      const settled = at === -1 ? guesses.length - 1 : at;
      return {
        ...(await world.engine.probe(question)),
        recipient: guesses[settled] ?? "",
        unknownRecipients: guesses.slice(0, settled),
        finding: at === -1 ? NOT_FOUND : answer,
        catchAll,
      };
    },
  };
  const look = async (person = ann, patternCounts: PatternCounts = NO_PATTERN_COUNTS) =>
    findAddress(engine, { person, domain }, patternCounts);
  return { look, questions };
};

test.each<[string, Pattern, string]>([
  ["ann.lee", "first.last", "valid"],
  ["lee.ann", "last.first", "valid"],
  ["alee", "flast", "risky"],
  ["lee", "last", "risky"],
  ["al", "fl", "risky"],
])("the find of %s teaches %s, and returns the status %s", async (local, pattern, status) => {
  const { look } = givenCompany([local]);

  expect(await look()).toMatchObject({
    result: { status, email: `${local}@example.com`, pattern },
    learnedPattern: pattern,
  });
});

test("the find includes an initial in the address, and teaches the pattern with the initial", async () => {
  const { look } = givenCompany(["ann.b.lee"]);

  expect(await look({ first: "Ann B.", last: "Lee" })).toMatchObject({
    result: { status: "valid", email: "ann.b.lee@example.com", pattern: "first.m.last" },
    learnedPattern: "first.m.last",
  });
  const notFound = await look({ first: "Bob", last: "Ray" }, createCounts(["first.m.last", 2]));
  expect(notFound.result).toMatchObject({ status: "not_found", pattern: "first.last" });
});

test.each(["dmitry.ivanov", "dmitriy.ivanov", "dmitrii.ivanov"])(
  "the find of a name with several spellings returns %s, and teaches only the pattern",
  async (local) => {
    const { look } = givenCompany([local]);

    expect(await look({ first: "Дмитрий", last: "Иванов" })).toMatchObject({
      result: { status: "valid", email: `${local}@example.com`, pattern: "first.last" },
      learnedPattern: "first.last",
    });
  },
);

test("the find sends all guesses in one probe, so that one session can ask about them in order", async () => {
  const { look, questions } = givenCompany(["lee"]);

  await look();

  expect(questions).toHaveLength(1);
  expect(questions[0]?.fallbacks?.length).toBeGreaterThan(5);
});

test("the find returns risky for a mailbox of one name at a domain with any pattern", async () => {
  const { look } = givenCompany(["ann"]);

  const once = await look();
  const { result } = await look(ann, createCounts(["first", 5]));

  expect(once).toMatchObject({
    result: { status: "risky", reason: "one_name", email: "ann@example.com", pattern: "first" },
    learnedPattern: "first",
  });
  expect(result).toMatchObject({ status: "risky", email: "ann@example.com" });
  expect(result.confidence).toBeGreaterThan(once.result.confidence);
});

test.each<[string, PatternCounts, string]>([
  ["no pattern is known", createCounts(), "risky"],
  ["another pattern is usual", createCounts(["first.last", 2], ["flast", 1]), "risky"],
  ["flast is usual", createCounts(["flast", 1]), "valid"],
  ["fmlast is usual", createCounts(["fmlast", 1]), "valid"],
])(
  "the find at a domain where %s returns %s for a mailbox of one name and a letter",
  async (_, counts, status) => {
    const { look } = givenCompany(["alee"]);

    expect((await look(ann, counts)).result).toMatchObject({
      status,
      reason: status === "valid" ? "accepted" : "one_initial",
      email: "alee@example.com",
    });
  },
);

test("a known pattern of a domain raises the confidence, and a rarer pattern lowers it", async () => {
  const confidence = async (local: string, patternCounts?: PatternCounts) =>
    (await givenCompany([local]).look(ann, patternCounts)).result.confidence;

  expect(await confidence("alee", createCounts(["flast", 5]))).toBeGreaterThan(
    await confidence("alee"),
  );
  expect(await confidence("ann.lee")).toBeGreaterThan(await confidence("alee"));
  expect(await confidence("ann_l", createCounts(["first_l", 1]))).toBeGreaterThanOrEqual(
    100 * IDENTITY_SHARES["one and a letter"],
  );
});

test.each(asRows<[string, CatchAll, Finding, string, string | null]>`
  a catch-all | yes | ${ACCEPTED} | catch_all | null
  an acceptance without proof | undecided | ${ACCEPTED} | risky | null
  an acceptance that was not tested | not_tested | ${ACCEPTED} | risky | null
  a full mailbox | not_tested | ${{ ...ACCEPTED, verdict: "risky", reason: "mailbox_full" }} | risky | null
`)(
  "the find does not count %s as verified, and learns only a proved pattern",
  async (_, catchAll, answer, status, taught) => {
    const { look } = givenCompany(["ann.lee"], { catchAll, answer });

    expect(await look()).toMatchObject({
      result: { status, email: "ann.lee@example.com" },
      learnedPattern: taught,
    });
  },
);

test("the find returns unknown for any name when the server's reply is not about the mailbox", async () => {
  const answer: Finding = { ...ACCEPTED, verdict: "unknown", reason: "ip_blocked", aboutUs: true };
  const { look } = givenCompany(["ann.lee", "info.lee"], { answer, catchAll: "not_tested" });

  for (const first of ["Ann", "Info"])
    expect((await look({ first, last: "Lee" })).result).toMatchObject({
      status: "unknown",
      reason: "ip_blocked",
      email: null,
      confidence: 0,
    });
});

test.each(["Dev", "Job", "Ask", "Server"])(
  "the find treats the role word %s beside a last name as a person's given name",
  async (first) => {
    const { look } = givenCompany([`${first.toLowerCase()}.patel`, first.toLowerCase()]);

    expect(await look({ first, last: "Patel" })).toMatchObject({
      result: { status: "valid", email: `${first.toLowerCase()}.patel@example.com` },
      learnedPattern: "first.last",
    });
    const alone = givenCompany([first.toLowerCase()]);
    expect((await alone.look({ first, last: "Patel" })).result.status).toBe("role");
  },
);

test("the find returns role for a role address, and learns no pattern", async () => {
  const { look } = givenCompany(["info.desk", "sales"]);

  expect(await look({ first: "Info", last: "Desk" })).toMatchObject({
    result: { status: "role", email: "info.desk@example.com" },
    learnedPattern: null,
  });
  expect((await look({ first: "Sales", last: "Smith" })).result.status).toBe("role");
});

test("a search without a match still returns the known pattern", async () => {
  const { look } = givenCompany([]);

  expect(await look(ann, createCounts(["flast", 3]))).toMatchObject({
    result: { status: "not_found", email: null, confidence: 0, pattern: "flast" },
    learnedPattern: null,
  });
});

test("pattern counts grow up to a limit, and stay stored for half a year", async () => {
  const ctx = givenWorld();
  for (let n = 0; n < 25; n++) await learnPattern(ctx.world, domain, "flast");
  await learnPattern(ctx.world, domain, "first.last");

  expect(await readPatternCounts(ctx.table, domain)).toEqual(
    createCounts(["first.last", 1], ["flast", 20]),
  );
  ctx.later(181 * 86_400_000);
  expect(await readPatternCounts(ctx.table, domain)).toEqual(NO_PATTERN_COUNTS);
});

test("the find succeeds with an unknown pattern when the table cannot be read or written", async () => {
  const ctx = givenWorld();
  const world = withTable(ctx, { get: rejectDown, write: rejectDown });

  await learnPattern(world, domain, "flast");

  expect(await readPatternCounts(world.table, domain)).toEqual(NO_PATTERN_COUNTS);
});
