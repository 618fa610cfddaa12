import { findNameFaults, listNameForms, looksSwapped } from "@mailproof/core/find/name-forms";
import { createLists } from "@mailproof/mail/lists/lists";
import { GIVEN_NAMES } from "@mailproof/mail/signals/name-words";
import { expect, test } from "vitest";

/** The likeliest first, as "mueller, muller". */
const listForms = (name: string, as: "first" | "last", domain: string): string =>
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
  ["Anna Maria", "anna, annamaria, anna-maria, anna.maria"],
  ["John F.", "john"],
  ["Dr. Ruth", "ruth"],
  ["J", "j"],
  ["Иван", "ivan"],
  ["Юлия", "julia, yulia, yuliya, iuliia"],
  ["Γιώργος", "giorgos"],
  ["Ｍｉｎａ", "mina"],
  ["Ευάγγελος", "evangelos"],
  ["Λευτέρης", "lefteris"],
  ["Παύλος", "pavlos"],
  ["Μαΐου", "maiou"],
  ["Ѓорѓи", "gjorgji, gorgi, gjorgi"],
  ["Қайрат", "kayrat, kairat"],
  ["Гүлнара", "gulnara"],
  ["Kɔfi", "kofi"],
  ["Ɗanjuma", "danjuma"],
])("the forms of the given name %s are %s", (name, forms) => {
  expect(listForms(name, "first", "example.com")).toBe(forms);
});

test.each([
  ["Weiß", "weiss"],
  ["Þórsson", "thorsson"],
  ["Nguyễn", "nguyen"],
  ["O'Brien", "obrien"],
  ["O’Brien", "obrien"],
  ["van der Berg", "vanderberg, berg, van.der.berg, van-der-berg, van_der_berg"],
  ["VAN DER BERG", "vanderberg, berg, van.der.berg, van-der-berg, van_der_berg"],
  ["al-Hashimi", "alhashimi, hashimi, al.hashimi, al-hashimi, al_hashimi"],
  ["Le", "le"],
  ["Smith-Jones", "smith-jones, smithjones, smith, jones, smith.jones"],
  ["García López", "garcia, garcialopez, lopez, garcia-lopez, garcia.lopez"],
  ["King Jr.", "king"],
  ["King, Ph.D.", "king"],
  ["King Esq.", "king"],
  ["Παπαδόπουλος", "papadopoulos"],
  ["Μπουμπούλης", "boumpoulis"],
  ["Быкаў", "bykau, bykaw"],
  ["Ќирилов", "kjirilov"],
  ["Ὅμηρος", "omiros"],
  ["Ƙaura", "kaura"],
  ["Ó Briain", "obriain"],
  ["O Brien", "obrien"],
  ["O’ Brien", "obrien"],
  ["D' Souza", "dsouza"],
  ["'t Hooft", "thooft"],
  ["van ’t Hoff", "vanthoff, thoff, van.thoff, van-thoff, van_thoff"],
  ["Mc Donald", "mcdonald"],
  ["St. John", "stjohn"],
  ["Ben David", "bendavid, david, ben.david, ben-david, ben_david"],
  ["Ní Bhriain", "nibhriain, bhriain, ni.bhriain, ni-bhriain, ni_bhriain"],
  ["San Martín", "sanmartin, martin, san.martin, san-martin, san_martin"],
  ["da Silva Santos", "santos, dasilva, silva, dasilvasantos"],
  ["Pereira da Costa", "pereira, pereiradacosta, costa, pereira-da-costa, pereira.da.costa"],
  ["O", "o"],
  ["Müller", "muller, mueller"],
])("the forms of the family name %s are %s", (name, forms) => {
  expect(listForms(name, "last", "example.com")).toBe(forms);
});

test.each([
  ["Дмитрий", "dmitry, dmitriy, dmitrii, dmitri"],
  ["Алексей", "alexey, alexei, aleksey, aleksei"],
  ["Максим", "maxim, maksim"],
  ["Володимир", "volodymyr, vladimir, volodimir"],
  ["Олег", "oleg"],
  ["Георги", "georgi, george"],
  ["Сяргей", "siarhei, sergey, siarhey"],
  ["Милош", "milos"],
  ["Ђорђе", "djordje, dorde"],
  ["Արամ", "aram"],
  ["Եվա", "yeva"],
  ["ნინო", "nino"],
  ["प्रिया", "priya"],
  ["विकास", "vikas"],
  ["कृष्ण", "krishna"],
  ["ज़ाकिर", "zakir"],
  ["지훈", "jihoon, jihun, ji-hoon, ji.hoon, ji-hun, ji.hun"],
  ["しょうた", "shota, shouta"],
  ["ケンイチ", "kenichi"],
  ["伟", "wei"],
  ["Wei (伟)", "wei"],
  ["Michael", "michael, mike"],
  ["ь", ""],
])("the forms of the given name %s are %s, the usual one first", (name, forms) => {
  expect(listForms(name, "first", "example.com")).toBe(forms);
});

test.each([
  ["Щербаков", "example.com", "shcherbakov"],
  ["Гриценко", "firma.ua", "hrytsenko"],
  ["Гриценко", "example.com", "gritsenko"],
  ["Ковалів", "example.com", "kovaliv"],
  ["Христов", "firma.bg", "hristov"],
  ["Христов", "example.com", "khristov"],
  ["Симић", "example.com", "simic"],
  ["Ευσταθίου", "example.com", "efstathiou"],
  ["Σταύρου", "example.com", "stavrou"],
  ["Եղիազարյան", "example.com", "yeghiazaryan"],
  ["გრიგალაშვილი", "example.com", "grigalashvili"],
  ["देशपांडे", "example.com", "deshpande"],
  ["सिंह", "example.com", "singh"],
  ["मिश्र", "example.com", "mishra"],
  ["김", "example.com", "kim"],
  ["남궁", "example.com", "namgung"],
  ["いのうえ", "example.com", "inoue"],
  ["ほんま", "example.com", "honma"],
  ["はっとり", "example.com", "hattori"],
  ["曾", "example.com", "zeng"],
  ["欧阳", "example.com", "ouyang"],
  ["吕", "example.com", "lv"],
  ["林", "firma.jp", "hayashi"],
  ["林", "example.com", "lin"],
  ["佐々木", "example.com", "sasaki"],
])("the first form of the family name %s at %s is %s", (name, domain, form) => {
  expect(listForms(name, "last", domain).split(", ")[0]).toBe(form);
});

// Examples of the Ukrainian standard of 2010, of passports after ICAO 9303, of the Revised Romanisation, and of Indian usage.
test.each([
  ["Борисенко", "firma.ua", "borysenko"],
  ["Згурський", "example.com", "zghurskyi"],
  ["Гаєвич", "example.com", "haievych"],
  ["Михайленко", "firma.ua", "mykhailenko"],
  ["Рибчинський", "example.com", "rybchynskyi"],
  ["Яготин", "firma.ua", "yahotyn"],
  ["Костянтинів", "example.com", "kostiantyniv"],
  ["Щеглова", "example.com", "shcheglova"],
  ["Васильева", "example.com", "vasileva"],
  ["Видный", "example.com", "vidnyi"],
  ["Краевой", "example.com", "kraevoi"],
  ["Чёткий", "example.com", "chetkii"],
  ["Клеёнкина", "example.com", "kleenkina"],
  ["Ильин", "example.com", "ilin"],
  ["신", "example.com", "sin"],
  ["백", "example.com", "baek"],
  ["तिवारी", "example.com", "tiwari"],
  ["पवार", "example.com", "pawar"],
])("the forms of the family name %s at %s include %s, as in documents", (name, domain, form) => {
  expect(listForms(name, "last", domain).split(", ")).toContain(form);
});

test.each([
  ["a Japanese name that is in no table", "田中", "鷹志"],
  ["a Cantonese name", "陳", "大文"],
])("the finder builds no form of %s", (_, last, first) => {
  const domain = last === "陳" ? "firma.hk" : "example.com";

  expect(listNameForms({ first, last }, domain)).toBeNull();
  expect(findNameFaults({ first, last }, domain).first).toBe("other_script");
});

test.each(["de", "at", "ch"])(
  "the forms of a name in .%s write an umlaut as two letters first",
  (country) => {
    expect(listForms("Müller", "last", `firma.${country}`)).toBe("mueller, muller");
  },
);

test.each(["", "  ", "4711", "?!", "علي", "יוסף", "สมชาย", "☃", "ㅋ"])(
  "the name %j contains no letters for an address",
  (name) => {
    expect(listNameForms({ first: name, last: "Lee" }, "example.com")).toBeNull();
    expect(listNameForms({ first: "Ann", last: name }, "example.com")).toBeNull();
  },
);

test("the shares of one name's forms add up to one", () => {
  for (const name of [
    "Müller",
    "van der Berg",
    "da Silva Santos",
    "García López",
    "Jean-Luc",
    "Дмитрий",
    "Ерёменко",
    "민준",
    "Ann",
  ]) {
    const forms = listNameForms({ first: name, last: name }, "example.com");
    for (const all of [forms?.first ?? [], forms?.last ?? [], forms?.initials ?? []])
      expect(all.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1);
  }
});

test.each([
  ["Schmidt", "Hans", true],
  ["Hans", "Schmidt", false],
  ["Thomas", "Martin", false],
  ["Иванов", "Сергей", true],
  ["Сергей", "Иванов", false],
  ["Xq", "Zv", false],
])("the names %s %s look swapped: %s", (first, last, swapped) => {
  expect(looksSwapped({ first, last })).toBe(swapped);
});

test("no given name counts as a role word", () => {
  const { role } = createLists();

  expect(GIVEN_NAMES.filter((name) => role(name) !== null)).toEqual([]);
});
