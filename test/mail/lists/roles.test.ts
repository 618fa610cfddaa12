import { findRole, roleWords } from "@mailproof/mail/lists/roles";
import { expect, test } from "vitest";

test.each([
  ["info", "info"],
  ["INFO", "info"],
  ["sales", "sales"],
  ["support", "support"],
  ["admin", "admin"],
  ["postmaster", "postmaster"],
  ["post-master", "postmaster"],
  ["webmaster", "webmaster"],
  ["mailer-daemon", "mailerdaemon"],
  ["noreply", "noreply"],
  ["accueil", "accueil"],
  ["zakupy", "zakupy"],
  ["no-reply", "noreply"],
  ["no_reply", "noreply"],
  ["no.reply", "noreply"],
  ["do-not-reply", "donotreply"],
  ["donotreply", "donotreply"],
  ["info+x", "info"],
  ["no-reply+42", "noreply"],
  ["sales.de", "sales"],
  ["uk-sales", "sales"],
  ["support_emea", "support"],
  ["info2", "info"],
  ["admin2026", "admin"],
  ["info-24", "info"],
  ["customer-service", "customerservice"],
  ["customerservice", "customerservice"],
  ["customer.service.uk", "customerservice"],
  ["sales-team", "salesteam"],
  ["sales-support", "sales"],
  ["it.helpdesk", "it"],
  ["hr", "hr"],
  ["vertrieb", "vertrieb"],
  ["contacto", "contacto"],
  ["e-mail", "email"],
  // A programme sends these, whatever else the name says.
  ["noreply-orders", "noreply"],
  ["messages-noreply", "noreply"],
  ["no-reply-jane.doe", "noreply"],
  ["bounces-4711-abc", "bounces"],
  ["gardeners-bounces", "bounces"],
  // What list managers add to a list's name (RFC 2142 §6).
  ["list-request", "list"],
  ["gardeners-request", "request"],
  ["rose-gardeners-owner", "owner"],
  ["gardeners-unsubscribe", "unsubscribe"],
  ["gardeners-confirm+4711abc", "confirm"],
  ["request", "request"],
  ["inoc", "inoc"],
  ["ispsupport", "ispsupport"],
  ["isp-feedback", "ispfeedback"],
  ["maildaemon", "maildaemon"],
  ["phish", "phish"],
  ["listserver", "listserver"],
  ["domainadmin", "domainadmin"],
  ["domain.admin", "domainadmin"],
  ["whois", "whois"],
  // Other languages, with accents and without.
  ["kundtjanst", "kundtjanst"],
  ["kundtjänst", "kundtjanst"],
  ["försäljning", "forsaljning"],
  ["postmottak", "postmottak"],
  ["økonomi", "okonomi"],
  ["asiakaspalvelu", "asiakaspalvelu"],
  ["myynti", "myynti"],
  ["objednavky", "objednavky"],
  ["účtárna", "uctarna"],
  ["ugyfelszolgalat", "ugyfelszolgalat"],
  ["ügyfélszolgálat", "ugyfelszolgalat"],
  ["bilgi", "bilgi"],
  ["satış", "satis"],
  ["insan.kaynaklari", "insankaynaklari"],
  ["zamówienia", "zamowienia"],
  ["obsługa.klienta", "obslugaklienta"],
  ["ksiegowosc", "ksiegowosc"],
  ["boekhouding", "boekhouding"],
  ["klachten", "klachten"],
  ["otdel-prodazh", "otdelprodazh"],
  ["buhgalteria", "buhgalteria"],
  ["бухгалтерия", "bukhgalteriya"],
  ["отдел.кадров", "otdelkadrov"],
  ["Поддержка", "podderzhka"],
  ["приёмная", "priemnaya"],
  ["обратная-связь", "obratnayasvyaz"],
  ["підтримка", "pidtrimka"],
  ["büro", "buro"],
])("the role reader finds in %s the role %s", (local, role) => {
  expect(findRole(local)).toBe(role);
});

test.each([
  "jane",
  "jane.doe",
  "j.doe",
  "tester",
  "test",
  "infodorf",
  "informer",
  "salesman",
  "supporter",
  "administer",
  "marketa",
  "hrvoje",
  "itzel",
  "presley",
  "allison",
  "all.mann",
  "teamy",
  // A name beside a role word is a person: Steve Jobs, Jane Sales, the John who does sales.
  "steve.jobs",
  "jane-sales",
  "sales.john",
  "info-meier",
  "john.doe+info",
  // Initials are no department.
  "h.r",
  "p.r",
  "in.fo",
  // A position has one holder, who reads his mail himself.
  "ceo",
  "president",
  "sales-manager",
  "office.manager",
  // What narrows a role is none.
  "de",
  "emea",
  "2026",
  "",
  "+info",
  "info12345",
  "...",
  "jane.request",
  "janerequest",
  "владимир",
  "østergård",
])("the role reader finds no role in %j", (local) => {
  expect(findRole(local)).toBeNull();
});

test.each(roleWords)("the role reader finds %s as written, joined, dotted and tagged", (word) => {
  const role = word.replaceAll("-", "");

  for (const local of [word, role, word.replaceAll("-", "."), `${word}+tag`, `${word}1`])
    expect(findRole(local)).toBe(role);
});

test("no role word appears twice in the list", () => {
  expect(roleWords.filter((word, index) => roleWords.indexOf(word) !== index)).toEqual([]);
});

test.each(
  `james mary robert patricia michael linda david anna maria jose luis juan carlos peter hans klaus julia sophie
   pierre marie giulia marco paolo sofia olga ivan dmitri wei li ming yuki hiroshi raj priya ahmed fatima mohamed
   smith johnson mueller schmidt garcia rossi silva kowalski novak ivanov tanaka kim nguyen singh khan mark bill
   bjorn astrid lars kjell sari paivi jan petr jiri zsofia istvan mehmet ayse emre agnieszka krzysztof pieter sanne
   vladimir natalya dmitry bolt winkel kassa basin bron stilling bok place sala lon jensen virtanen novotny nagy yilmaz
   wisniewski jansen petrov
   grace hope joy faith rich art pat max don rob drew will page dean chase hunter frank earl`
    .trim()
    .split(/\s+/),
)("the role reader treats %s as a person's name", (name) => {
  expect([findRole(name), findRole(`${name}1`), findRole(`info.${name}`)]).toEqual([
    null,
    null,
    null,
  ]);
});
