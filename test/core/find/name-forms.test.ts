import { listNameForms, looksSwapped } from "@mailproof/core/find/name-forms";
import { createLists } from "@mailproof/core/mail/lists/lists";
import { GIVEN_NAMES } from "@mailproof/core/signals/name-words";
import { expect, test } from "vitest";

/** The likeliest first, as "mueller, muller". */
const written = (name: string, as: "first" | "last", domain: string): string =>
  (listNameForms({ first: "Ann", last: "Lee", [as]: name }, domain)?.[as] ?? [])
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ text }) => text)
    .join(", ");

test.each([
  ["Ann", "ann"],
  ["ANN", "ann"],
  ["Zoë", "zoe"],
  ["François", "francois"],
  ["Łukasz", "lukasz"],
  ["İbrahim", "ibrahim"],
  ["Jürgen", "jurgen, juergen"],
  ["Søren", "soren, soeren"],
  ["Jean-Luc", "jean-luc, jeanluc, jean"],
  ["Jean‑Luc", "jean-luc, jeanluc, jean"],
  ["Anna Maria", "anna, annamaria, anna-maria"],
  ["John F.", "john"],
  ["Dr. Ruth", "ruth"],
  ["J", "j"],
  ["Иван", "ivan"],
  ["Юлия", "yuliya"],
  ["Γιώργος", "giorgos"],
  ["Ｍｉｎａ", "mina"],
  ["Ευάγγελος", "evangelos"],
  ["Λευτέρης", "lefteris"],
  ["Παύλος", "pavlos"],
  ["Μαΐου", "maiou"],
  ["Ѓорѓи", "gjorgji"],
  ["Қайрат", "kayrat"],
  ["Гүлнара", "gulnara"],
  ["Kɔfi", "kofi"],
  ["Ɗanjuma", "danjuma"],
])("the given name %s is written %s", (name, forms) => {
  expect(written(name, "first", "example.com")).toBe(forms);
});

test.each([
  ["Weiß", "weiss"],
  ["Þórsson", "thorsson"],
  ["Nguyễn", "nguyen"],
  ["O'Brien", "obrien"],
  ["O’Brien", "obrien"],
  ["van der Berg", "vanderberg, berg, van-der-berg, van.der.berg"],
  ["VAN DER BERG", "vanderberg, berg, van-der-berg, van.der.berg"],
  ["al-Hashimi", "alhashimi, hashimi, al-hashimi, al.hashimi"],
  ["Le", "le"],
  ["Smith-Jones", "smith-jones, smithjones, smith, jones"],
  ["García López", "garcia, garcialopez, garcia-lopez, lopez"],
  ["King Jr.", "king"],
  ["King, Ph.D.", "king"],
  ["King Esq.", "king"],
  ["Παπαδόπουλος", "papadopoulos"],
  ["Μπουμπούλης", "boumpoulis"],
  ["Быкаў", "bykau"],
  ["Ќирилов", "kjirilov"],
  ["Ὅμηρος", "omiros"],
  ["Ƙaura", "kaura"],
  ["Ó Briain", "obriain"],
  ["O Brien", "obrien"],
  ["O’ Brien", "obrien"],
  ["D' Souza", "dsouza"],
  ["'t Hooft", "thooft"],
  ["van ’t Hoff", "vanthoff, thoff, van-thoff, van.thoff"],
  ["Mc Donald", "mcdonald"],
  ["St. John", "stjohn"],
  ["Ben David", "bendavid, david, ben-david, ben.david"],
  ["Ní Bhriain", "nibhriain, bhriain, ni-bhriain, ni.bhriain"],
  ["San Martín", "sanmartin, martin, san-martin, san.martin"],
  ["da Silva Santos", "santos, dasilva, silva, dasilvasantos"],
  ["Pereira da Costa", "pereira, pereiradacosta, pereira-da-costa, costa"],
  ["O", "o"],
  ["Müller", "muller, mueller"],
])("the family name %s is written %s", (name, forms) => {
  expect(written(name, "last", "example.com")).toBe(forms);
});

test.each(["de", "at", "ch"])("in .%s an umlaut is two letters first", (country) => {
  expect(written("Müller", "last", `firma.${country}`)).toBe("mueller, muller");
});

test.each(["", "  ", "4711", "?!", "李明", "علي", "☃"])(
  "%j leaves nothing that an address could be made of",
  (name) => {
    expect(listNameForms({ first: name, last: "Lee" }, "example.com")).toBeNull();
    expect(listNameForms({ first: "Ann", last: name }, "example.com")).toBeNull();
  },
);

test("the ways to write one name are all the ways there are", () => {
  for (const name of [
    "Müller",
    "van der Berg",
    "da Silva Santos",
    "García López",
    "Jean-Luc",
    "Ann",
  ]) {
    const forms = listNameForms({ first: name, last: name }, "example.com");
    for (const all of [forms?.first ?? [], forms?.last ?? []])
      expect(all.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1);
  }
});

test.each([
  ["Schmidt", "Hans", true],
  ["Hans", "Schmidt", false],
  ["Thomas", "Martin", false],
  ["Xq", "Zv", false],
])("%s %s look swapped: %s", (first, last, swapped) => {
  expect(looksSwapped({ first, last })).toBe(swapped);
});

test("nobody's given name is taken for a role", () => {
  const { role } = createLists();

  expect(GIVEN_NAMES.filter((name) => role(name) !== null)).toEqual([]);
});
