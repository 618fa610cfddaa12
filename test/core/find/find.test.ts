import {
  learnPattern,
  NO_PATTERN_COUNTS,
  type PatternCounts,
  readPatternCounts,
} from "@mailproof/core/calibration/naming";
import { IDENTITY_SHARES } from "@mailproof/core/find/confidence";
import { findAddress } from "@mailproof/core/find/find";
import type { CatchAll, ProbeRequest } from "@mailproof/core/smtp-pool/probe";
import type { Engine } from "@mailproof/core/verify/engine";
import type { Pattern } from "@mailproof/mail/signals/address-patterns";
import type { Finding } from "@mailproof/mail/smtp/classify";
import { expect, test } from "vitest";
import { rejectDown, withTable } from "../../app/faulty-worlds.ts";
import { givenWorld } from "../../app/given.ts";

const domain = "example.com";
const ann = { first: "Ann", last: "Lee" };

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

const createCounts = (...counts: readonly (readonly [Pattern, number])[]): PatternCounts =>
  new Map(counts);

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

test("the find returns risky for a mailbox of one name, whatever pattern the domain uses", async () => {
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

test.each<[string, CatchAll, Finding, string, string | null]>([
  ["a catch-all", "yes", ACCEPTED, "catch_all", null],
  ["an acceptance without proof", "undecided", ACCEPTED, "risky", null],
  ["an acceptance that was not tested", "not_tested", ACCEPTED, "risky", null],
  [
    "a full mailbox",
    "not_tested",
    { ...ACCEPTED, verdict: "risky", reason: "mailbox_full" },
    "risky",
    null,
  ],
])(
  "the find does not count %s as verified, and learns only a proved pattern",
  async (_, catchAll, answer, status, taught) => {
    const { look } = givenCompany(["ann.lee"], { catchAll, answer });

    expect(await look()).toMatchObject({
      result: { status, email: "ann.lee@example.com" },
      learnedPattern: taught,
    });
  },
);

test("the find returns unknown when the server's reply is not about the mailbox, whatever the name", async () => {
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
