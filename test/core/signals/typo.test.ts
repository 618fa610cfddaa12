import { suggestTypo } from "@mailproof/core/signals/typo";
import { expect, test } from "vitest";
import { PROVIDERS } from "./providers.ts";

const DEAD = { mailWorks: false, isSquat: false } as const;
const adviceFor = (domain: string, signals: Parameters<typeof suggestTypo>[1] = DEAD) =>
  suggestTypo({ local: "ann", domain }, signals, PROVIDERS);

test.each([
  ["a letter hit aside", "gnail.com", "gmail.com"],
  ["a letter hit aside", "hmail.com", "gmail.com"],
  ["a letter hit aside", "gmaol.com", "gmail.com"],
  ["a letter hit aside", "yajoo.com", "yahoo.com"],
  ["a letter hit aside", "outlpok.com", "outlook.com"],
  ["a letter hit aside", "hotnail.com", "hotmail.com"],
  ["a letter hit aside in capitals", "GNAIL.com", "gmail.com"],
  ["two letters hit aside", "gmaul.xom", "gmail.com"],
  ["a letter left out", "gmai.com", "gmail.com"],
  ["a letter left out", "gmal.com", "gmail.com"],
  ["a letter left out", "gail.com", "gmail.com"],
  ["a letter left out", "yaho.com", "yahoo.com"],
  ["a letter left out", "hotmil.com", "hotmail.com"],
  ["a letter left out", "outlok.com", "outlook.com"],
  ["a letter left out", "iclod.com", "icloud.com"],
  ["a letter left out", "protonmal.com", "protonmail.com"],
  ["a letter left out", "comcst.net", "comcast.net"],
  ["two letters left out", "hotml.com", "hotmail.com"],
  ["a letter held down", "gmaill.com", "gmail.com"],
  ["a letter held down", "yahooo.com", "yahoo.com"],
  ["a letter held down", "outlookk.com", "outlook.com"],
  ["a letter too many", "gmaiul.com", "gmail.com"],
  ["a letter too many", "hotmaiol.com", "hotmail.com"],
  ["two letters swapped", "gmial.com", "gmail.com"],
  ["two letters swapped", "yhaoo.com", "yahoo.com"],
  ["two letters swapped", "hotmial.com", "hotmail.com"],
  ["two letters swapped", "outlokc.com", "outlook.com"],
  ["two letters swapped", "icluod.com", "icloud.com"],
  ["a wrong ending", "gmail.con", "gmail.com"],
  ["a wrong ending", "gmail.co", "gmail.com"],
  ["a wrong ending", "gmail.cm", "gmail.com"],
  ["a wrong ending", "gmail.om", "gmail.com"],
  ["a wrong ending", "gmail.c", "gmail.com"],
  ["a wrong ending", "gmail.comm", "gmail.com"],
  ["a wrong ending", "yahoo.cmo", "yahoo.com"],
  ["a wrong ending", "yahoo.ocm", "yahoo.com"],
  ["a wrong ending", "hotmail.vom", "hotmail.com"],
  ["a wrong ending", "web.dee", "web.de"],
  ["another ending", "gmail.de", "gmail.com"],
  ["another ending", "gmail.com.br", "gmail.com"],
  ["another ending", "icloud.xyz", "icloud.com"],
  ["the nearest of several endings", "hotmail.f", "hotmail.fr"],
  ["the nearest of several endings", "hotmai.fr", "hotmail.fr"],
  ["the nearest of several endings", "yahoo.couk", "yahoo.co.uk"],
  ["the nearest of several endings", "yahooo.fr", "yahoo.fr"],
  ["a missing dot", "gmailcom", "gmail.com"],
  ["a missing dot", "hotmailcom", "hotmail.com"],
  ["a missing dot", "t-onlinede", "t-online.de"],
  ["a dot too many", "gmail..com", "gmail.com"],
  ["a dot at the end", "gmail.com.", "gmail.com"],
  ["a comma for the dot", "gmail,com", "gmail.com"],
  ["a missing hyphen", "tonline.de", "t-online.de"],
  ["a doubled ending", "gmail.comcom", "gmail.com"],
  ["a doubled ending", "gmail.com.com", "gmail.com"],
  ["a doubled name", "gmailgmail.com", "gmail.com"],
  ["a doubled name", "gmail.gmail.com", "gmail.com"],
  ["a doubled domain", "gmail.com.gmail.com", "gmail.com"],
  ["a doubled domain", "outlook.comoutlook.com", "outlook.com"],
  ["a web address", "www.outlook.com", "outlook.com"],
])("%s: %s was meant as %s", (_, typed, meant) => {
  expect(adviceFor(typed).suggestion).toBe(`ann@${meant}`);
});

test.each([
  "acme.com",
  "hey.com",
  "lime.com",
  "aon.com",
  "email.com",
  "sky.com",
  "gmx.at",
  "hotmail.de",
])("%s has working mail, and is left alone", (domain) => {
  expect(adviceFor(domain, { mailWorks: true, isSquat: false })).toEqual({
    suggestion: null,
    confidence: null,
  });
});

test.each(["me.com", "mail.com", "hotmail.fr", "yahoo.co.uk", "gmail.com", "GMail.Com"])(
  "%s is a provider itself, and is left alone even when its mail is down or it is said to be a squat",
  (domain) => {
    expect(adviceFor(domain).suggestion).toBeNull();
    expect(adviceFor(domain, { mailWorks: false, isSquat: true }).suggestion).toBeNull();
  },
);

test.each([
  "acme.com",
  "hey.com",
  "aon.com",
  "sky.com",
  "xyz.com",
  "qwerty.io",
  "me.xyz",
  "aol.xyz",
  "136.com",
  "mail.university.edu",
  "gmail.research.firm.example",
  "gmailhosting.com",
  "example.com",
  "xn--gmx-bla.de",
  "",
  ".",
  "...",
  "com",
])("%j is dead but resembles no provider enough to say so", (domain) => {
  expect(adviceFor(domain)).toEqual({ suggestion: null, confidence: null });
});

test("while it is undecided whether mail works, nothing is suggested", () => {
  expect(adviceFor("gmial.com", { mailWorks: "undecided", isSquat: false }).suggestion).toBeNull();
});

test.each([true, false, "undecided"] as const)(
  "a known squat is corrected whether or not its mail works (%s)",
  (mailWorks) => {
    const advice = adviceFor("gmial.com", { mailWorks, isSquat: true });

    expect(advice).toEqual({ suggestion: "ann@gmail.com", confidence: 0.99 });
  },
);

test("a squat that resembles nobody gets no suggestion", () => {
  expect(adviceFor("parked.example", { mailWorks: true, isSquat: true }).suggestion).toBeNull();
});

test("the local part is handed back as it was written", () => {
  const address = { local: 'Ann."O\'Lee"+x', domain: "gmial.com" };

  expect(suggestTypo(address, DEAD, PROVIDERS).suggestion).toBe('Ann."O\'Lee"+x@gmail.com');
});

test("of two providers equally near, the more popular is meant", () => {
  const between = { local: "ann", domain: "lave.com" };

  expect(suggestTypo(between, DEAD, ["love.com", "live.com"]).suggestion).toBe("ann@love.com");
  expect(suggestTypo(between, DEAD, ["live.com", "love.com"]).suggestion).toBe("ann@live.com");
});

test("a rival lowers the confidence", () => {
  const typed = { local: "ann", domain: "ymial.com" };

  const alone = suggestTypo(typed, DEAD, ["gmail.com"]).confidence ?? 0;
  const beside = suggestTypo(typed, DEAD, ["gmail.com", "ymail.com"]).confidence ?? 0;

  expect(beside).toBeLessThan(alone);
});

test("the same slip says more about a long name than about a short one", () => {
  const [long, short] = [adviceFor("hotmqil.com").confidence, adviceFor("aok.com").confidence];

  expect(long ?? 0).toBeGreaterThan(short ?? 1);
});

test("without providers there is nothing to suggest", () => {
  expect(suggestTypo({ local: "ann", domain: "gmial.com" }, DEAD, []).suggestion).toBeNull();
});
