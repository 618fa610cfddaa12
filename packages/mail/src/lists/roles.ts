// A group, a program or nobody reads a role mailbox. One person reads the mailbox of a position (ceo, president, sales manager), so
// positions are no roles here; nor is "test", which shows nothing about its reader.

/** A local part that contains one of these words belongs to a program: noreply-orders, somelist-bounces. */
const AUTOMATED = `
  bounce bounces do-not-reply donot-reply dont-reply mailer-daemon mail-daemon no-reply no-response ne-pas-repondre
  nicht-antworten no-responder nao-responda non-rispondere niet-beantwoorden svara-inte ikke-svar ei-vastausta
  nie-odpowiadaj neodpovidejte ne-valaszoljon ne-otvechat`;

/** These endings after a list's name address its program: gardeners-request (RFC 2142 §6), and the endings of list managers. */
const OF_LISTS = /-(?<word>request|owner|subscribe|unsubscribe|confirm|join|leave)$/;

// Words of other languages have the spelling of addresses: without accents, joined or with a hyphen. The tables omit words that are
// also names or everyday words of another language: Finnish "sales" is "myynti", and "sala" is a name.
const NORDIC = `
  kund-tjanst kund-service kunde-service kunde-senter kunde-support forsaljning salg ekonomi okonomi regnskab regnskap
  bogholderi faktura fakturor bestallning bestallningar bestilling bestillinger inkop innkjop indkob reklamation
  reklamasjon bokning butik butiken butikk resepsjon vaxel kansli kansliet registrator post-mottak firma-post
  redaktionen redaksjon redaksjonen styrelsen styret bestyrelsen personvern rekrytering rekruttering lediga-jobb
  stillinger jobb lonn medlem medlemskap medlems-service nyhetsbrev nyhedsbrev presse-kontakt asiakas-palvelu myynti
  tilaukset tilaus laskutus laskut talous toimisto tuki palaute kirjaamo rekry rekrytointi tyopaikat neuvonta
  varaukset myymala verkko-kauppa toimitus viestinta tiedotus vaihde tietosuoja yllapito yhteys-tiedot uutiskirje
  hallinto`;
const CZECH_AND_SLOVAK = `
  obchod podpora technicka-podpora zakaznicka-podpora zakaznicky-servis zakaznicke-centrum prodej predaj prodejna
  predajna objednavky objednavka fakturace fakturacia ucetni uctarna uctaren ucto kancelar recepce recepcia reklamace
  reklamacie poptavka poptavky dotazy personalni personalne nabor kariera volna-mista redakce redakcia sprava spravce
  tisk tiskove tlacove podatelna e-podatelna eshop rezervace rezervacie`;
const HUNGARIAN = `
  ugyfel-szolgalat ugyfel-kapcsolat iroda ertekesites penzugy konyveles titkarsag hirlevel rendeles rendelesek
  szamlazas szamla kapcsolat tamogatas allas allasok karrier munkaugy foglalas foglalasok szerkesztoseg sajto
  beszerzes kereskedelem uzlet webaruhaz szerviz kozpont recepcio adatvedelem`;
const TURKISH = `
  bilgi iletisim destek musteri-hizmetleri musteri-destek satis satin-alma muhasebe finans insan-kaynaklari kariyer
  basvuru siparis siparisler rezervasyon teknik-destek teknik-servis servis halkla-iliskiler pazarlama reklam yonetim
  sekreter sekreterlik fatura ihracat ithalat lojistik sikayet oneri kvkk`;
const POLISH = `
  handlowy zamowienia zamowienie ksiegowosc kadry rekrutacja praca reklamacje zwroty pomoc pomoc-techniczna obsluga
  obsluga-klienta dzial-handlowy dzial-sprzedazy biuro-obslugi-klienta serwis redakcja zapytania zapytanie oferty
  oferta poczta informacja recepcja rezerwacje rezerwacja logistyka magazyn zaopatrzenie zakupy eksport rodo iod dyrekcja
  kancelaria hurtownia szkolenia wsparcie`;
const DUTCH = `
  inkoop administratie boekhouding facturen factuur facturatie crediteuren debiteuren receptie secretariaat vacatures
  vacature personeelszaken redactie werkplaats vragen ondersteuning aanmelden aanmelding inschrijving inschrijvingen
  abonnementen nieuwsbrief klacht klachten reserveren reservering reserveringen webwinkel planning bestuur
  leden-administratie loonadministratie offerte offertes technische-dienst magazijn algemeen`;
/** Russian and Ukrainian words in Latin letters, as in most addresses. Cyrillic local parts are converted to Latin letters first. */
const RUSSIAN = `
  prodazhi otdel-prodazh zakaz zakazy zakupki buhgalteria buhgalteriya bukhgalteriya buhgalter podderzhka
  tehpodderzhka tech-podderzhka otdel-kadrov priemnaya priemnaia reklama rezume vakansii vakansiya spravka sklad
  zayavka zayavki pressa press-sluzhba redaktsiya redakciya redaktsia snab snabzhenie kantselyariya kancelyariya ofis
  kontakty pochta obratnaya-svyaz otdel-snabzheniya opt optovik dostavka logistika yurist bronirovanie registratura
  pidtrymka zamovlennya rezyume poshta informatsiya tekhpodderzhka pomoshch bukhgalter sekretar administratsiya
  pidtrimka prodazh`;
/** Role words, grouped by purpose. A hyphen matches any separator, or none. */
const WORDS = `
  abuse admin admins administration administrator administrators administrador hostmaster post-master web-master root sys-admin sysop noc security
  inoc isp-support isp-feedback list-server domain-admin domains whois phish lir peering ip-admin net-admin host-admin
  feedback-loop fbl dmarc dmarc-reports tls-reports bug-bounty responsible-disclosure vulnerability cirt
  list-master list-admin mailman sympa ezmlm moderator moderators
  ssl-admin ssl-administrator ssl-web-master dns-admin dns ftp www usenet uucp news network it web-admin
  mail-admin mail-master spam phishing fraud cert csirt psirt soc dev-null nobody null

  info information infos info-desk contact contacts contact-us kontakt contacto contato contatti hello hola hallo
  bonjour ciao enquiry enquiries inquiry inquiries ask mail e-mail mail-box post in-box questions general reception
  front-desk head-office office offices buero biuro secretariat sekretariat segreteria secretaria

  sales sales-team inside-sales pre-sales vertrieb verkauf verkoop ventas vendas vendite sprzedaz order orders bestellung
  bestellungen ordini pedidos booking bookings reservation reservations reservas prenotazioni shop store sklep
  quote quotes tender tenders purchasing procurement einkauf compras acquisti partner partners partnership
  partnerships affiliate affiliates wholesale export
  subscriptions investors investor-relations appointments registration

  support support-team tech-support technical-support tech technical tickets help help-desk service services service-desk
  customer-service customer-services customer-care customer-support customer-success client-services
  kunden-service kundendienst klanten-service service-client soporte suporte supporto assistenza atendimento
  returns warranty complaints feedback suggestions

  accounts account accounting accounts-payable accounts-receivable billing finance finances payment invoice invoices
  invoicing payments payroll buchhaltung rechnung rechnungen facturacion facturation comptabilite compta
  fatturazione amministrazione administracion administracao contabilidad contabilidade financeiro faktury
  treasury audit

  hr human-resources personalabteilung jobs job career careers recruiting recruitment recruiter talent
  bewerbung bewerbungen karriere recrutement rrhh employment training hiring

  marketing media press presse prensa imprensa stampa pr public-relations communications communication ads
  advertising advertise newsletter newsletters editor editorial redaktion redaction redazione events event
  sponsorship publicity publicidade social-media webinar conference

  legal compliance privacy dpo gdpr datenschutz data-protection copyright dmca licensing

  team staff all all-staff everyone everybody management volunteers teachers students members membership community board group crew list lists listserv majordomo
  owner subscribe un-subscribe undisclosed-recipients notification notifications notify alert alerts updates
  system server robot bot daemon cron monitoring operations ops dev devs developer developers engineering
  development design research lab registrar admissions library facilities logistics shipping dispatch warehouse
  verwaltung zentrale empfang request requests confirm join leave buro

  alarm alarms announce announcement announcements benefits business business-development campaigns care clinic
  commercial commerciale comercial committee concierge corporate courses customers delivery donations donate emergency
  enrollment errors expenses faculty faq fundraising grants hosting hotel insurance internship internships it-help
  it-support junk list-manager list-proc maintenance member-services monitor onboarding postbox production promotions
  proveedores purchase purchases receipts recruit recruiters reminders report reporting reports rsvp safety schedule
  smtp submissions survey tax travel trustees vendors volunteer volunteering webinars web-site web-team workshop
  informacion recepcion atencion-al-cliente servicio-al-cliente recursos-humanos oficina tesoreria logistica redaccion
  redacao comunicacion comunicacao finanzas financas faturamento suprimentos gerencia diretoria direzione protocollo
  secretaris biblioteca consultas comenzi rezervari accueil achats ventes direction rh ayuda atencion empleo fatture ufficio

  ${NORDIC} ${CZECH_AND_SLOVAK} ${HUNGARIAN} ${TURKISH} ${POLISH} ${DUTCH} ${RUSSIAN}`;

/** Words that narrow a role but are no roles themselves: sales.de, support-emea, info-north. */
const QUALIFIERS = `
  ar at au be bg br ca ch cl cn co cz de dk ee es eu fi fr gb gr hk hr hu ie il in int intl is jp kr lt lu lv mx
  my nl no nz pe ph pl pt ro rs ru se sg si sk th tr tw ua uk us usa vn za
  africa america americas apac asia benelux dach emea europe germany global international latam mena nordics
  worldwide east north south west
  central desk dept department main online team web`;

const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Lists the spellings of a word: "no-reply" and "noreply". */
export const listSpellings = (word: string): readonly string[] => [word, word.replaceAll("-", "")];

const automated: ReadonlySet<string> = new Set(splitWords(AUTOMATED).flatMap(listSpellings));
const qualifiers: ReadonlySet<string> = new Set(splitWords(QUALIFIERS));

export const roleWords: readonly string[] = [...splitWords(AUTOMATED), ...splitWords(WORDS)];
const shipped: ReadonlySet<string> = new Set(roleWords.flatMap(listSpellings));

export const isRoleWord = (spelling: string): boolean => shipped.has(spelling);

/** The most parts of any word, those of "ne-pas-repondre". */
const PARTS_MAX = 3;

/**
 * Returns the role that a local part names, or null. Each part must be a role word or narrow one: with any other name in it the
 * address belongs to a person, unless a word such as "noreply" shows a program.
 */
export const findRole = (
  local: string,
  isRole: (spelling: string) => boolean = isRoleWord,
): string | null => {
  const name = removeTag(local.toLowerCase());
  const plain = toPlainLatin(name);
  return (
    findWords(name, isRole) ??
    (plain === name ? null : findWords(plain, isRole)) ??
    findListProgramme(name, isRole)
  );
};

const findListProgramme = (name: string, isRole: (spelling: string) => boolean): string | null => {
  const { word = "" } = OF_LISTS.exec(name)?.groups ?? {};
  return isRole(word) ? word : null;
};

const findWords = (name: string, isRole: (spelling: string) => boolean): string | null => {
  const parts = name.split(/[._-]+/).filter((part) => part !== "");
  const read = readParts(parts, isRole);
  const words = read.flatMap(({ word }) => word ?? []);
  const decides = words.find((word) => automated.has(word));
  if (decides === undefined && read.some(({ word, narrows }) => !word && !narrows)) return null;
  return (decides ?? words[0])?.replaceAll("-", "") ?? null;
};

type RoleReading = { readonly word?: string; readonly narrows?: boolean };

const readParts = (
  parts: readonly string[],
  isRole: (spelling: string) => boolean,
): readonly RoleReading[] => {
  const read: RoleReading[] = [];
  for (let at = 0; at < parts.length; ) {
    const found = findWord(parts, at, isRole);
    read.push(found ? { word: found.word } : { narrows: isQualifier(parts[at] ?? "") });
    at += found?.parts ?? 1;
  }
  return read;
};

/** Finds the longest role word at this part: "service-desk" before "service". */
const findWord = (
  parts: readonly string[],
  at: number,
  isRole: (spelling: string) => boolean,
): { readonly word: string; readonly parts: number } | undefined => {
  for (let count = Math.min(PARTS_MAX, parts.length - at); count > 0; count--) {
    const whole = parts.slice(at, at + count).join("-");
    if (isRole(whole)) return { word: whole, parts: count };
    const word = removeNumber(whole);
    if (word !== whole && isRole(word)) return { word, parts: count };
  }
  return undefined;
};

const isQualifier = (part: string): boolean =>
  qualifiers.has(removeNumber(part)) || /^\d{1,4}$/.test(part);

const BEYOND_ASCII = /[^\p{ASCII}]/u;
/** The Latin spellings of U+0430 to U+044F. The hard and the soft sign have no Latin spelling. */
const CYRILLIC = "a b v g d e zh z i i k l m n o p r s t u f kh ts ch sh shch  y  e yu ya".split(
  " ",
);
const FIRST_CYRILLIC = 0x430;
const OTHERS = new Map(
  "\u0142l \u00f8o \u00e6ae \u00dfss \u0131i \u0111d \u0456i \u0454ye"
    .split(" ")
    .map(([letter = "", ...latin]) => [letter, latin.join("")]),
);

/** Converts "försäljning" to "forsaljning" and "почта" to "pochta", the spellings of the words above. */
const toPlainLatin = (name: string): string =>
  BEYOND_ASCII.test(name)
    ? name
        .normalize("NFD")
        .replaceAll(/\p{M}/gu, "")
        .replaceAll(
          /[^\p{ASCII}]/gu,
          (letter) =>
            CYRILLIC[letter.charCodeAt(0) - FIRST_CYRILLIC] ?? OTHERS.get(letter) ?? letter,
        )
    : name;

const removeTag = (local: string): string => local.replace(/\+.*$/s, "");

const ENDS_IN_DIGIT = /[0-9]$/;
const removeNumber = (word: string): string =>
  ENDS_IN_DIGIT.test(word) ? word.replace(/\d{1,4}$/, "") : word;
