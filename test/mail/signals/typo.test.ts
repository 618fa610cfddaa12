import { createLists } from "@mailproof/mail/lists/lists";
import { popularProviders } from "@mailproof/mail/lists/providers";
import { suggestTypo } from "@mailproof/mail/signals/typo";
import { expect, test } from "vitest";
import { PROVIDERS } from "./typo-lab.ts";

type Signals = Parameters<typeof suggestTypo>[1];
const DEAD: Signals = { mailWorks: false, squatOf: null, hasRareEnding: false };
const { rareEnding } = createLists();
const adviceFor = (domain: string, signals: Partial<Signals> = {}, providers = PROVIDERS) =>
  suggestTypo(
    { local: "ann", domain },
    { ...DEAD, hasRareEnding: rareEnding(domain), ...signals },
    providers,
  );

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
  ["a doubled label", "yahoo.co.co.uk", "yahoo.co.uk"],
  ["a dot for the hyphen", "t.online.de", "t-online.de"],
  ["two letters left out behind a right first one", "hoail.com", "hotmail.com"],
  ["a right first letter before two others", "hemail.com", "hotmail.com"],
  ["digits stuck to the front", "35gmai.com", "gmail.com"],
  ["digits stuck to the front", "636gmail.com", "gmail.com"],
  ["digits stuck to the end", "gmail.com73160", "gmail.com"],
  ["digits stuck to the end", "gamil.con73160", "gmail.com"],
  ["a letter stuck to the end", "gmail.comu", "gmail.com"],
  ["a right name before no ending", "ymail.con", "ymail.com"],
  ["a right name before no ending", "mail.con", "mail.com"],
  ["a right name before no ending", "live.cmo", "live.com"],
  ["a right name before no ending", "comcast.nry", "comcast.net"],
  ["a right name before no ending", "gmx.dee", "gmx.de"],
  ["a right name before no ending", "yahoo.co.u", "yahoo.co.uk"],
])("the suggestion corrects %s: %s to %s", (_, typed, meant) => {
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
])("the domain %s with working mail gets no suggestion", (domain) => {
  expect(adviceFor(domain, { mailWorks: true })).toEqual({
    suggestion: null,
    confidence: null,
  });
});

test.each(["me.com", "mail.com", "hotmail.fr", "yahoo.co.uk", "gmail.com", "GMail.Com"])(
  "the provider %s gets no suggestion, even when its mail is down or a list calls it a squat",
  (domain) => {
    expect(adviceFor(domain).suggestion).toBeNull();
    expect(adviceFor(domain, { squatOf: "gmail.com" }).suggestion).toBeNull();
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
])("the dead domain %j gets no suggestion, since it resembles no provider enough", (domain) => {
  expect(adviceFor(domain)).toEqual({ suggestion: null, confidence: null });
});

test("a domain gets no suggestion while DNS leaves its mail undecided", () => {
  expect(adviceFor("gmial.com", { mailWorks: "undecided" }).suggestion).toBeNull();
  expect(adviceFor("acme.cmo", { mailWorks: "undecided" }).suggestion).toBeNull();
});

test.each([true, false, "undecided"] as const)(
  "a known squat gets its list's target as suggestion, with or without working mail (%s)",
  (mailWorks) => {
    const advice = adviceFor("mail.verzion.net", { mailWorks, squatOf: "verizon.net" });

    expect(advice).toEqual({ suggestion: "ann@verizon.net", confidence: 0.99 });
  },
);

test.each([
  ["randomsmallcompany.cmo", "randomsmallcompany.com"],
  ["con-artists.con", "con-artists.com"],
  ["acme.ocm", "acme.com"],
  ["acme.comm", "acme.com"],
  ["acme.xom", "acme.com"],
  ["acme.comcom", "acme.com"],
  ["acme.com73160", "acme.com"],
  ["acme.com.", "acme.com"],
  ["mail.acme.nett", "mail.acme.net"],
  ["taureans.plus.con", "taureans.plus.com"],
  ["acme.co.ku", "acme.co.uk"],
  ["acme.com.rb", "acme.com.br"],
  ["hochschule.dee", "hochschule.de"],
  ["college.eduu", "college.edu"],
  ["xn--mller-kva.con", "xn--mller-kva.com"],
])("the suggestion corrects the missing ending of %s to %s", (typed, meant) => {
  expect(adviceFor(typed, {}, popularProviders).suggestion).toBe(`ann@${meant}`);
});

test.each([
  // Real endings, however odd they look, and whatever else is wrong with the domain.
  "acme.cm",
  "acme.om",
  "acme.co",
  "acme.cam",
  "acme.ne",
  "acme.courses",
  // Names of a firm's own network.
  "printer.local",
  "server.lan",
  "host.localdomain",
  "host.test",
  "name.invalid",
  "service.onion",
  // No ending is near.
  "asdf.asdf",
  "acme.qwertz",
  "acme",
  "a b.con",
  "..con",
  "-.con",
])("the dead domain %j gets no suggestion, since its meaning is unknown", (domain) => {
  expect(adviceFor(domain, {}, popularProviders)).toEqual({ suggestion: null, confidence: null });
});

test("a typo suggestion keeps the local part unchanged", () => {
  const address = { local: 'Ann."O\'Lee"+x', domain: "gmial.com" };

  expect(suggestTypo(address, DEAD, PROVIDERS).suggestion).toBe('Ann."O\'Lee"+x@gmail.com');
});

test("the suggestion prefers the more popular of two equally near providers", () => {
  const between = { local: "ann", domain: "lave.com" };

  expect(suggestTypo(between, DEAD, ["love.com", "live.com"]).suggestion).toBe("ann@love.com");
  expect(suggestTypo(between, DEAD, ["live.com", "love.com"]).suggestion).toBe("ann@live.com");
});

test("a second similar provider lowers a typo suggestion's confidence", () => {
  const typed = { local: "ann", domain: "hotmial.com" };

  const alone = suggestTypo(typed, DEAD, ["hotmail.com"]).confidence ?? 0;
  const beside = suggestTypo(typed, DEAD, ["hotmail.com", "hotmal.com"]).confidence ?? 0;

  expect(beside).toBeLessThan(alone);
});

test("a typo in a long domain name gives more confidence than a typo in a short one", () => {
  const [long, short] = [adviceFor("hotmqil.com").confidence, adviceFor("aok.com").confidence];

  expect(long ?? 0).toBeGreaterThan(short ?? 1);
});

test("the suggestion stays empty without providers", () => {
  expect(suggestTypo({ local: "ann", domain: "gmial.com" }, DEAD, []).suggestion).toBeNull();
});

/** What people typed, and what they meant: from the suites of libraries that correct typos, and from support requests. */
const SEEN = `
  gmail.con:gmail.com gnail.con:gmail.com GNAIL.con:gmail.com comcast.nry:comcast.net homail.con:hotmail.com
  hotmail.co:hotmail.com yajoo.com:yahoo.com randomsmallcompany.cmo:randomsmallcompany.com
  con-artists.con:con-artists.com yahooo.cmo:yahoo.com gmailc.om:gmail.com yahoo.co.u:yahoo.co.uk
  hotmial.com:hotmail.com gmial.com:gmail.com outloik.com:outlook.com outllook.com:outlook.com
  yohoo.com:yahoo.com gamil.con73160:gmail.com taureans.plus.con:taureans.plus.com gmaim.com:gmail.com
  putlook.com:outlook.com 636gmail.com:gmail.com gmail.comu:gmail.com gmali.com:gmail.com
  hotmaill.con:hotmail.com icloud.cm:icloud.com aol.cmo:aol.com live.con:live.com msn.cmo:msn.com me.con:me.com
  mac.con:mac.com sky.con:sky.com btinternet.con:btinternet.com btinternet.co.uk:btinternet.com
  btintenet.com:btinternet.com virginmedia.con:virginmedia.com verizon.ner:verizon.net att.ent:att.net
  sbcglobal.ner:sbcglobal.net bellsouth.ent:bellsouth.net cox.ner:cox.net charter.met:charter.net
  earthlink.nte:earthlink.net wanadoo.ft:wanadoo.fr orange.ft:orange.fr laposte.ney:laposte.net free.ft:free.fr
  gmx.dw:gmx.de web.dr:web.de t-online.dee:t-online.de libero.ut:libero.it mail.rru:mail.ru yandex.tu:yandex.ru
  googlemail.con:googlemail.com firm.co.uj:firm.co.uk firm.ogr:firm.org firm.nte:firm.net firm.eduu:firm.edu
  firm.comm:firm.com firm.coml:firm.com firm.clm:firm.com firm.vom:firm.com firm.cpm:firm.com firm.c0m:firm.com
  firm.cmom:firm.com firm.conm:firm.com firm.coom:firm.com firm.ocm:firm.com firm.kom:firm.com
  firm.comn:firm.com firm.cim:firm.com firm.come:firm.com`
  .trim()
  .split(/\s+/)
  .map((pair) => pair.split(":") as [typed: string, meant: string]);

test.each(SEEN)("the suggestion among all providers corrects %s to %s", (typed, meant) => {
  const { squat } = createLists();
  const advice = adviceFor(typed, { squatOf: squat(typed.toLowerCase()) }, popularProviders);

  expect(advice.suggestion).toBe(`ann@${meant}`);
});
