import { parsePersonName } from "@mailproof/mail/signals/person-name";
import fc from "fast-check";
import { expect, test } from "vitest";

const toNames = (local: string) => {
  const { first_name, last_name, full_name } = parsePersonName(local, false);
  return [first_name, last_name, full_name];
};

test.each([
  ["two names", "ann.lee", "Ann", "Lee", "Ann Lee"],
  ["a tag is dropped", "ann.lee+x", "Ann", "Lee", "Ann Lee"],
  ["digits are dropped", "ann.lee84", "Ann", "Lee", "Ann Lee"],
  ["capitals are set anew", "ANN_LEE", "Ann", "Lee", "Ann Lee"],
  ["a hyphen parts two names when nothing else does", "ann-lee", "Ann", "Lee", "Ann Lee"],
  ["a hyphen joins where a dot parts", "jean-luc.picard", "Jean-Luc", "Picard", "Jean-Luc Picard"],
  ["an apostrophe stays", "siobhan.o'neill", "Siobhan", "O'Neill", "Siobhan O'Neill"],
  ["accents stay", "renée.müller", "Renée", "Müller", "Renée Müller"],
  ["other alphabets are names too", "иван.петров", "Иван", "Петров", "Иван Петров"],
  [
    "names that are in no list are believed in pairs",
    "thorsten.haegermann",
    "Thorsten",
    "Haegermann",
    "Thorsten Haegermann",
  ],
  [
    "a family name in front is seen when both are known",
    "schmidt.hans",
    "Hans",
    "Schmidt",
    "Hans Schmidt",
  ],
  ["a middle name is in the full name", "anna.maria.rossi", "Anna", "Rossi", "Anna Maria Rossi"],
  ["a middle initial is in the full name", "john.f.kennedy", "John", "Kennedy", "John F Kennedy"],
  [
    "particles belong to the family name",
    "maria.de.la.cruz",
    "Maria",
    "de la Cruz",
    "Maria de la Cruz",
  ],
  ["a particle at the end is a name", "hans.von", "Hans", "Von", "Hans Von"],
  ["one very common given name", "maria", "Maria", null, "Maria"],
  ["one very common given name with a year", "maria1990", "Maria", null, "Maria"],
  ["an initial and a known family name", "j.smith", null, "Smith", "Smith"],
  ["a known given name and an initial", "john.s", "John", null, "John"],
])("%s: %s", (_, local, first, last, full) => {
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
  ["what a machine made", "xk7qz9w2.b4c9"],
  ["a row of keys", "asdfgh.qwerty"],
  ["numbers", "13800138000"],
  ["a sentence", "the.cat.sat.on.the.mat"],
  ["a quoted local part", '"ann lee"'],
  ["signs", "ann#lee"],
  ["nothing", ""],
  ["dots", "..."],
  ["what is too long for a local part", `${"ann.".repeat(30)}lee`],
])("%s tells no name: %s", (_, local) => {
  expect(toNames(local)).toEqual([null, null, ""]);
});

test("a role is no person's name, even when it reads like one", () => {
  expect(parsePersonName("grace.hall", true)).toEqual({
    first_name: null,
    last_name: null,
    full_name: "",
    gender: "unknown",
  });
});

test("whatever is written, the gender is unknown, and the full name is made of the names found", () => {
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
