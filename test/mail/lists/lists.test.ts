import { parseListChanges } from "@mailproof/mail/lists/changes";
import { broad } from "@mailproof/mail/lists/data/broad";
import { createLists, webmailDomains } from "@mailproof/mail/lists/lists";
import { pack } from "@mailproof/mail/lists/pack";
import { relayDomains } from "@mailproof/mail/lists/relays";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, test } from "vitest";

const shipped = createLists([], WHOLE_EDITION);
const changedBy = (text: string) => createLists(parseListChanges(text), WHOLE_EDITION);

test.each(
  `
  mailinator.com mail.mailinator.com a.b.c.mailinator.com guerrillamail.com sharklasers.com yopmail.com 10minutemail.com
  temp-mail.org trashmail.com maildrop.cc getnada.com dispostable.com mohmal.com emailondeck.com 10minutemail.co.uk
`
    .trim()
    .split(/\s+/),
)("the lists call %s disposable", (domain) => {
  expect(shipped.disposable(domain)).toBe(true);
  expect(shipped.free(domain)).toBe(false);
});

test.each([
  "gmail.com",
  "example.com",
  "example.org",
  "microsoft.com",
  "bbc.co.uk",
  "notmailinator.com.example",
  "xmailinator.com",
  "mailinator.com.example.org",
  "mailinator",
  "com",
  "co.uk",
  "eu.org",
  "",
])("the lists do not call %j disposable", (domain) => {
  expect(shipped.disposable(domain)).toBe(false);
});

test.each([...relayDomains, ...webmailDomains])(
  "the lists vouch for %s, so that neither it nor a subdomain is disposable",
  (domain) => {
    for (const name of [domain, `someone.${domain}`]) {
      expect(shipped.disposable(name)).toBe(false);
      expect(shipped.disposableHint(name)).toBe(false);
    }
  },
);

test.each(relayDomains)("the lists call %s a relay, and so a user's name below it", (domain) => {
  expect([shipped.relay(domain), shipped.relay(`someone.${domain}`)]).toEqual([true, true]);
});

test.each([
  ..."com ca com.mx com.br co.uk de fr it es nl se pl com.be com.tr ae sa eg in co.jp com.au sg co.za"
    .split(" ")
    .map((ending) => `marketplace.amazon.${ending}`),
  "m.marketplace.amazon.co.jp",
  "members.ebay.com",
  "members.ebay.de",
  "relay.walmart.com",
  "es.relay.walmart.com",
  "guest.airbnb.com",
  "reply.airbnb.com",
  "sale.craigslist.org",
  "messages.homeaway.com",
  "m.expediapartnercentral.com",
  "agoda-messaging.com",
  "mail.kleinanzeigen.de",
  "mail.ebay-kleinanzeigen.de",
  "user.allegromail.pl",
  "spamgourmet.com",
  "snkml.com",
  "opayq.com",
])("the lists call %s, whose mail reaches a person, a relay and not disposable", (domain) => {
  expect([
    shipped.relay(domain),
    shipped.disposable(domain),
    shipped.disposableHint(domain),
  ]).toEqual([true, false, false]);
});

test.each(
  `
  gmail.com amazon.com amazon.de ebay.com walmart.com airbnb.com craigslist.org expedia.com agoda.com kleinanzeigen.de
  kaufland.de zillow.com appleid.com booking.com notduck.com com
`
    .trim()
    .split(/\s+/),
)("the lists do not call %s a relay", (domain) => {
  expect(shipped.relay(domain)).toBe(false);
});

test("a domain on the broad lists alone gets a hint and no verdict", () => {
  expect([shipped.disposableHint("burnermail.io"), shipped.disposable("burnermail.io")]).toEqual([
    true,
    false,
  ]);
  expect(shipped.disposableHint("in.burnermail.io")).toBe(true);
});

test("the lists ignore a broad entry that is a relay or webmail", () => {
  const careless = pack(["duck.com", "proton.me", "user.mozmail.com", "burner.example"]);
  const { disposableHint } = createLists([], {
    ...WHOLE_EDITION,
    lists: { ...WHOLE_EDITION.lists, broad: { ...broad, packed: careless } },
  });

  expect(
    ["duck.com", "mail.proton.me", "user.mozmail.com", "burner.example"].map(disposableHint),
  ).toEqual([false, false, false, true]);
});

test("a domain on the precise list gets no hint", () => {
  expect(shipped.disposableHint("mailinator.com")).toBe(false);
});

test("the lists return no disposable hint without the broad list", () => {
  expect(createLists().disposableHint("burnermail.io")).toBe(false);
});

test.each(["test.com", "nus.edu.sg", "sdf.org", "tom.com", "za.com", "pp.ua", "msk.ru", "zp.ua"])(
  "the domain %s, which one broad list calls disposable, gets no hint",
  (domain) => {
    expect([shipped.disposable(domain), shipped.disposableHint(domain)]).toEqual([false, false]);
  },
);

test.each(
  `gmail.com yahoo.co.jp proton.me web.de qq.com comcast.net mail2world.com yahoo.nl duck.com`.split(
    " ",
  ),
)("the lists call %s a free provider", (domain) => {
  expect(shipped.free(domain)).toBe(true);
});

test.each(
  `
  chello.at a1.net alicedsl.de sina.com.cn lycos.de netscape.com 126.net murena.io aon.at chello.nl kabelmail.de
  netcologne.de lycos.co.uk aol.com.au vip.126.com yandex.com.tr zohomail.eu nifty.com ocn.ne.jp comhem.se online.no
  kolumbus.fi jubii.dk pandora.be zonnet.nl noos.fr telefonica.net tiscalinet.it btopenworld.com eircom.net pacbell.net
  bell.net tpg.com.au neostrada.pl t-online.hu otenet.gr hot.ee netvision.net.il mweb.co.za fibertel.com.ar
`
    .trim()
    .split(/\s+/),
)("the lists call %s a free provider, since the public registers there", (domain) => {
  expect(shipped.free(domain)).toBe(true);
});

test.each(
  `
  starbucks.com cox.com medscape.com unican.es kansascity.com space.com facebookmail.com go.com about.com google.com
  facebook.com alibaba.com amazonses.com easypost.com scientist.com mailinblack.com clerk.com name.com hola.org
`
    .trim()
    .split(/\s+/),
)(
  "the lists do not call %s a free provider, since the public does not register there",
  (domain) => {
    expect([shipped.free(domain), shipped.disposable(domain)]).toEqual([false, false]);
  },
);

test.each([
  ["gmial.com", "gmail.com"],
  ["mail.gmial.com", "gmail.com"],
  ["verzion.net", "verizon.net"],
  ["gmail.com", null],
  ["acme.com", null],
])("the typed domain %s means %s", (typed, meant) => {
  expect(shipped.squat(typed)).toBe(meant);
});

test.each([
  ["acme.co", true],
  ["acme.cm", true],
  ["acme.om", true],
  ["acme.cam", true],
  ["acme.ne", true],
  ["acme.alt", true],
  ["acme.con", false],
  ["acme.cmo", false],
  ["acme.local", false],
  ["acme.c", false],
  ["acme.", false],
  ["", false],
])("the ending of %j exists and looks like a slip: %s", (domain, expected) => {
  expect(shipped.rareEnding(domain)).toBe(expected);
});

test.each(["example.com", "mail.gmail.com", "gmial.com", "hotmail.co", "dyndns.org", "co.uk", ""])(
  "the lists do not call %j a free provider",
  (domain) => {
    expect(shipped.free(domain)).toBe(false);
  },
);

test.each([
  ["spam@uce.gov", true],
  ["someone@uce.gov", false],
  ["spamtrap@example.com", true],
  ["spam-trap@example.com", true],
  ["spam.traps2+x@example.com", true],
  ["spam@example.com", false],
  ["spamtrapper@example.com", false],
  ["notspamtrap@example.com", false],
])("the lists decide on a trap at %s: %s", (address, expected) => {
  expect(shipped.trap(address, address.slice(address.indexOf("@") + 1))).toBe(expected);
});

test("an operator's changes add a disposable domain with all its subdomains", () => {
  const { disposable } = changedBy("+disposable burner.example");

  expect(disposable("burner.example")).toBe(true);
  expect(disposable("mx.burner.example")).toBe(true);
  expect(disposable("notburner.example")).toBe(false);
});

test("an operator's changes remove a disposable domain with all its subdomains, and its hint", () => {
  const mine = changedBy("-disposable mailinator.com\n-disposable burnermail.io");

  expect(mine.disposable("mail.mailinator.com")).toBe(false);
  expect(mine.disposableHint("burnermail.io")).toBe(false);
  expect(mine.disposable("yopmail.com")).toBe(true);
});

test("an operator's changes override the domains that we vouch for", () => {
  expect(changedBy("+disposable duck.com").disposable("duck.com")).toBe(true);
  expect(changedBy("+disposable gmail.com").disposable("gmail.com")).toBe(true);
});

test("an operator's changes can except a subdomain of a listed domain", () => {
  const { disposable } = changedBy("-disposable staff.mailinator.com");

  expect([disposable("staff.mailinator.com"), disposable("mailinator.com")]).toEqual([false, true]);
});

test("the later of an operator's two contrary list changes applies", () => {
  expect(changedBy("+disposable a.example\n-disposable a.example").disposable("a.example")).toBe(
    false,
  );
});

test("an operator's changes add a relay, which is then not disposable", () => {
  const mine = changedBy("+relay mailinator.com");

  expect([mine.relay("x.mailinator.com"), mine.disposable("x.mailinator.com")]).toEqual([
    true,
    false,
  ]);
  expect(changedBy("-relay duck.com").relay("duck.com")).toBe(false);
});

test("an operator's changes add and remove free providers", () => {
  const mine = changedBy("+free campus.example\n-free gmail.com");

  expect([mine.free("campus.example"), mine.free("gmail.com")]).toEqual([true, false]);
});

test("an operator's changes turn no domain into a provider that they call disposable", () => {
  expect(changedBy("+disposable yahoo.nl").free("yahoo.nl")).toBe(false);
});

test("an operator's changes add and remove role words, with any separator", () => {
  const { role } = changedBy("+role front-of-house\n-role Hello\n-role no-reply");

  expect(role("front.of.house")).toBe("frontofhouse");
  expect(role("frontofhouse+x")).toBe("frontofhouse");
  expect(role("hello")).toBeNull();
  expect(role("noreply")).toBeNull();
  expect(role("info")).toBe("info");
});

test("an operator's changes set traps for an address or a whole domain", () => {
  const { trap } = changedBy(
    "+trap old@example.com\n+trap traps.example\n-trap spamtrap@example.net",
  );

  expect(trap("old@example.com", "example.com")).toBe(true);
  expect(trap("new@example.com", "example.com")).toBe(false);
  expect(trap("anyone@in.traps.example", "in.traps.example")).toBe(true);
  expect(trap("spamtrap@example.net", "example.net")).toBe(false);
});

test("an operator's changes leave the shipped lists unchanged for others", () => {
  changedBy("-disposable yopmail.com");

  expect(shipped.disposable("yopmail.com")).toBe(true);
});

test("the evidence lists every list with its source, version, count and hash", () => {
  expect(shipped.versions.map(({ list }) => list)).toEqual(
    `disposable free broad webmail relay role trap squat`.split(" "),
  );
  for (const version of shipped.versions) {
    expect(Object.keys(version)).toEqual(["list", "source", "version", "entries", "sha256"]);
    expect(version.entries).toBeGreaterThan(0);
    expect(version.sha256).toMatch(/^[0-9a-f]{64}$/);
  }
});

test("the evidence omits the broad list when it was not asked", () => {
  expect(createLists().versions.map(({ list }) => list)).not.toContain("broad");
});

test("the evidence distinguishes an operator's changes by their content", () => {
  const [one, other] = ["+free a.example", "-free a.example"].map((text) =>
    changedBy(text).versions.at(-1),
  );

  expect(one).toMatchObject({ list: "changes", source: "operator", entries: 1 });
  expect(one?.sha256).not.toBe(other?.sha256);
});
