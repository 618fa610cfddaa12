import {
  BOT_THRESHOLD,
  isBot,
  listBotSignals,
  scoreBotLikeness,
} from "@mailproof/mail/signals/bot";
import { listCatchAllParts, scoreCatchAll } from "@mailproof/mail/signals/catch-all-score";
import { measureEditDistance } from "@mailproof/mail/signals/edit-distance";
import {
  NAMES_BY_COUNTRY,
  scoreNameLikeness,
  toBareLocal,
} from "@mailproof/mail/signals/name-likeness";
import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES } from "@mailproof/mail/signals/name-words";
import { parsePersonName } from "@mailproof/mail/signals/person-name";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";
import {
  areaUnderCurve,
  humanLocals,
  machineLocals,
  UNREAD_FAMILY,
  UNREAD_GIVEN,
} from "./local-part-lab.ts";

const toNames = (local: string) => {
  const { first_name, last_name, full_name } = parsePersonName(local, false);
  return [first_name, last_name, full_name];
};

test.each(asRows`
  two names | ann.lee | Ann | Lee | Ann Lee
  a tag is dropped | ann.lee+x | Ann | Lee | Ann Lee
  digits are dropped | ann.lee84 | Ann | Lee | Ann Lee
  capitals are set anew | ANN_LEE | Ann | Lee | Ann Lee
  a hyphen parts two names when nothing else does | ann-lee | Ann | Lee | Ann Lee
  a hyphen joins where a dot parts | jean-luc.picard | Jean-Luc | Picard | Jean-Luc Picard
  an apostrophe stays | siobhan.o'neill | Siobhan | O'Neill | Siobhan O'Neill
  accents stay | renée.müller | Renée | Müller | Renée Müller
  other alphabets are names too | иван.петров | Иван | Петров | Иван Петров
  names that are in no list are believed in pairs | thorsten.haegermann | Thorsten | Haegermann | Thorsten Haegermann
  a family name in front is seen when both are known | schmidt.hans | Hans | Schmidt | Hans Schmidt
  a middle name is in the full name | anna.maria.rossi | Anna | Rossi | Anna Maria Rossi
  a middle initial is in the full name | john.f.kennedy | John | Kennedy | John F Kennedy
  particles belong to the family name | maria.de.la.cruz | Maria | de la Cruz | Maria de la Cruz
  a particle at the end is a name | hans.von | Hans | Von | Hans Von
  one very common given name | maria | Maria | null | Maria
  one very common given name with a year | maria1990 | Maria | null | Maria
  an initial and a known family name | j.smith | null | Smith | Smith
  a known given name and an initial | john.s | John | null | John
`)("the parser reads the person's name (%s): %s", (_, local, first, last, full) => {
  expect(toNames(local)).toEqual([first, last, full]);
});

test.each([
  ["one word that is no common given name", "dragonslayer"],
  ["one family name", "schmidt"],
  ["names run together", "annlee"],
  ["an initial and an unknown word", "x.files"],
  ["words that are no person's name", "sales.paris"],
  ["a role with a city", "info.berlin"],
  ["two initials", "a.b"],
  ["two initials and a name", "a.b.lee"],
  ["letters of no name", "xk.qz"],
  ["a machine's string", "xk7qz9w2.b4c9"],
  ["a row of keys", "asdfgh.qwerty"],
  ["numbers", "13800138000"],
  ["a sentence", "the.cat.sat.on.the.mat"],
  ["a quoted local part", '"ann lee"'],
  ["signs", "ann#lee"],
  ["an empty local part", ""],
  ["dots", "..."],
  ["a text too long for a local part", `${"ann.".repeat(30)}lee`],
])("the parser reads no name from %s: %s", (_, local) => {
  expect(toNames(local)).toEqual([null, null, ""]);
});

test("the parser reads no person's name from a role, even a name-like one", () => {
  expect(parsePersonName("grace.hall", true)).toEqual({
    first_name: null,
    last_name: null,
    full_name: "",
    gender: "unknown",
  });
});

test("the gender is always unknown, and the full name contains the found names", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.emailAddress()),
      (local) => {
        const { first_name, last_name, full_name, gender } = parsePersonName(local, false);

        expect(gender).toBe("unknown");
        expect(full_name.startsWith(first_name ?? "")).toBe(true);
        expect(full_name.endsWith(last_name ?? "")).toBe(true);
        expect(full_name === "").toBe(first_name === null && last_name === null);
      },
    ),
  );
});

test("the lab uses no name that the model has read", () => {
  const read = new Set([...GIVEN_NAMES, ...FAMILY_NAMES, ...COMMON_WORDS, ...NAMES_BY_COUNTRY]);

  expect([...UNREAD_GIVEN, ...UNREAD_FAMILY].filter((name) => read.has(name))).toEqual([]);
});

test("the model's words use a-z, like its alphabet", () => {
  const words = [...GIVEN_NAMES, ...FAMILY_NAMES, ...COMMON_WORDS, ...NAMES_BY_COUNTRY];

  expect(words.filter((word) => !/^[a-z]+$/.test(word))).toEqual([]);
});

test("unread names score higher than machines' strings, 98 times in 100", () => {
  const area = areaUnderCurve(
    humanLocals.map(scoreNameLikeness),
    machineLocals.map(scoreNameLikeness),
  );

  expect(area).toBeGreaterThan(0.98);
});

test.each([
  ["ann.lee", "qzkfjwpx"],
  ["szczepan.brzezinski", "xk7qz9w2"],
  ["j.smith", "j.smxth"],
  ["smith84", "8sm4ith"],
  ["dragonslayer2000", "a9f3b2c1d4e5"],
  ["jean-luc.picard", "j-e-a-n-l-u-c"],
  ["obrien", "o#bri=en"],
])("the local part %s scores more like a name than %s", (more, less) => {
  expect(scoreNameLikeness(more)).toBeGreaterThan(scoreNameLikeness(less));
});

test.each(["王伟", "иван", "", "a"])(
  "the local part %j scores neither for nor against a name",
  (local) => {
    expect(scoreNameLikeness(local)).toBe(0.5);
  },
);

test.each([
  ["a tag is no part of the name", "ann.lee+qzkfjwpx", "ann.lee"],
  ["capitals do not count", "Ann.LEE", "ann.lee"],
  ["accents do not count", "renée.müller", "renee.muller"],
])("the name score follows from the bare local part, since %s", (_, local, plain) => {
  expect(scoreNameLikeness(local)).toBe(scoreNameLikeness(plain));
});

test("a local part that begins with a plus has no tag", () => {
  expect(toBareLocal("+ann")).toBe("+ann");
});

test("the score reads no more than the greatest length of a local part", () => {
  expect(toBareLocal("a".repeat(1_000_000))).toHaveLength(64);
  expect(scoreNameLikeness("a1".repeat(500_000))).toBeLessThan(0.01);
});

test.each([
  ["no slip", "gmail", "gmail", 0],
  ["no slip in empty texts", "", "", 0],
  ["a key beside the one meant", "gnail", "gmail", 0.75],
  ["a key far from the one meant", "gtail", "gmail", 1],
  ["a key beside the one meant on a French board only", "gpail", "gmail", 0.75],
  ["two keys swapped", "gmial", "gmail", 0.75],
  ["a key held down", "gmaill", "gmail", 0.75],
  ["one of two equal letters", "yaho", "yahoo", 0.75],
  ["a key too many", "gmapil", "gmail", 1],
  ["a key too few", "gail", "gmail", 1],
  ["the first key too few", "mail", "gmail", 1],
  ["two slips", "gnaill", "gmail", 1.5],
  ["two letters out of no letters", "ab", "", 2],
  ["no letters out of two", "", "ab", 2],
  ["three slips, which is another word", "gnqol", "gmail", Infinity],
  ["another word", "firm", "gmail", Infinity],
  ["a much longer word", "gmailservice", "gmail", Infinity],
])("the edit distance of %s: %j for %j costs %d", (_, typed, meant, cost) => {
  expect(measureEditDistance(typed, meant)).toBe(cost);
});

test.each([
  ["letters and digits drawn blindly", "xk7qz9w2"],
  ["letters drawn blindly", "qzkfjwpx"],
  ["a hash", "d41d8cd98f00b204e9800998ecf8427e"],
  ["an identifier with hyphens", "123e4567-e89b-12d3-a456-426614174000"],
  ["a row of keys", "asdfgh"],
  ["a row of keys backwards", "poiuytr"],
  ["a row of keys on a French board", "azerty"],
  ["several short rows", "qweasdzxc"],
  ["a row twice", "asdasd"],
  ["the alphabet", "abcdefg"],
  ["a key held down", "aaaaaaaa"],
])("the detector flags %s: %s", (_, local) => {
  expect(isBot(local)).toBe(true);
});

test.each([
  ["a name", "ann.lee"],
  ["a name that holds a short run", "stuart.wert"],
  ["a long name of another language", "wrzesniewski"],
  ["a Vietnamese name run together", "nguyenvanminh"],
  ["a name with a year", "yvonne1986"],
  ["a name with a number that counts up", "john123456"],
  ["a phone number", "13800138000"],
  ["initials", "jfk"],
  ["a name and a tag drawn blindly", "ann.lee+xk7qz9w2"],
  ["a role", "no-reply"],
  ["a doubled name", "mimi"],
  ["a name in Cyrillic letters", "иван.петров"],
  ["a name in Chinese characters", "王伟"],
  ["one letter", "a"],
  ["an empty local part", ""],
])("the detector does not flag %s: %s", (_, local) => {
  expect(isBot(local)).toBe(false);
});

test("the threshold catches 85 of 100 machines' strings, and flags fewer than one name in 100", () => {
  const getShare = (locals: readonly string[]) => locals.filter(isBot).length / locals.length;

  expect(getShare(machineLocals)).toBeGreaterThan(0.85);
  expect(getShare(humanLocals)).toBeLessThan(0.01);
  expect(
    areaUnderCurve(machineLocals.map(scoreBotLikeness), humanLocals.map(scoreBotLikeness)),
  ).toBeGreaterThan(0.98);
});

test("the bot likeness equals one minus the product of the signals' complements, as a reader can check by hand", () => {
  const doubt = listBotSignals("xk7qz9w2").reduce((left, { value }) => left * (1 - value), 1);

  expect(scoreBotLikeness("xk7qz9w2")).toBeCloseTo(1 - doubt, 2);
});

test("digits alone raise the likeness, and never set the flag", () => {
  expect(scoreBotLikeness("123456789")).toBe(0.3);
  expect(BOT_THRESHOLD).toBeGreaterThan(0.3);
});

test("a local part of a million characters costs no more time than one of 64", () => {
  expect(isBot("qwert".repeat(200_000))).toBe(true);
  expect(isBot("a1".repeat(500_000))).toBe(true);
});

const UNKNOWN = { isRole: false, pattern: null } as const;
const patternPart = (local: string, pattern: string, isRole = false) =>
  listCatchAllParts(local, { isRole, pattern }).find(({ part }) => part === "pattern")?.value;

test("the confidence ranks unread names above machines' strings, 98 times in 100", () => {
  const confidence = (local: string) => scoreCatchAll(local, UNKNOWN);

  expect(
    areaUnderCurve(humanLocals.map(confidence), machineLocals.map(confidence)),
  ).toBeGreaterThan(0.98);
});

test.each([
  ["ann.lee", "first.last"],
  ["Ann.Lee+news", "first.last"],
  ["ann.lee2", "first.last"],
  ["ann.o'neill", "first.last"],
  ["ann.lee", "last.first"],
  ["ann.lee", "{first}.{last}"],
  ["a.lee", "f.last"],
  ["ann_l", "first_l"],
  ["ann-lee", "first-last"],
  ["王.小明", "f.last"],
])("the local part %s fits %s, whose separator is good evidence", (local, pattern) => {
  expect(patternPart(local, pattern)).toBe(0.25);
});

test.each([
  ["alee", "flast"],
  ["annlee", "firstlast"],
  ["annlee", "firstl"],
  ["ann", "first"],
  ["al", "fl"],
])("the local part %s fits %s, as many words do", (local, pattern) => {
  expect(patternPart(local, pattern)).toBe(0.1);
});

test.each([
  ["annlee", "first.last"],
  ["a.lee", "first.last"],
  ["ann.lee", "f.last"],
  ["ann.lee.kim", "first.last"],
  ["ann.", "first.last"],
  [".lee", "first.last"],
  ["ann_lee", "first.last"],
  ["ann.lee1234", "first.last"],
  ["4nn.lee", "first.last"],
  ["ann.lee", "first"],
  ["ann", "fl"],
  ["al", "flast"],
  ["", "first"],
])("the local part %j does not fit %s", (local, pattern) => {
  expect(patternPart(local, pattern)).toBe(-0.1);
});

test.each(["", "nickname", "first.", ".last", "first..last", "first@last", "{last}#{first}"])(
  "an unknown pattern (%j) changes no confidence",
  (pattern) => {
    expect(patternPart("ann.lee", pattern)).toBe(0);
  },
);

test("a role address need not fit the pattern of people's names", () => {
  expect(patternPart("info", "first.last", true)).toBe(0);
});

const anyLocal = fc.oneof(
  fc.constantFrom(...humanLocals, ...machineLocals),
  fc.string({ maxLength: 70 }),
  fc.string({ unit: "binary", maxLength: 70 }),
);
const anyPattern = fc.option(
  fc.oneof(fc.constantFrom("first.last", "f.last", "flast", "first", "last_first"), fc.string()),
);

test("the confidence is the sum of its parts, between 0 and 0.95", () => {
  fc.assert(
    fc.property(anyLocal, fc.boolean(), anyPattern, (local, isRole, pattern) => {
      const signals = { isRole, pattern };
      const sum = listCatchAllParts(local, signals).reduce((total, { value }) => total + value, 0);
      const confidence = scoreCatchAll(local, signals);

      expect(confidence).toBeCloseTo(sum, 10);
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(0.95);
    }),
  );
});

test("neither a role word nor a fitting pattern lowers the confidence", () => {
  fc.assert(
    fc.property(anyLocal, anyPattern, (local, pattern) => {
      const [person, role] = [false, true].map((isRole) =>
        scoreCatchAll(local, { isRole, pattern }),
      );
      expect(role).toBeGreaterThanOrEqual(person ?? 1);

      const fits = pattern !== null && (patternPart(local, pattern) ?? 0) >= 0;
      const unfitted = fits ? scoreCatchAll(local, UNKNOWN) : 0;
      expect(person).toBeGreaterThanOrEqual(unfitted);
    }),
  );
});
