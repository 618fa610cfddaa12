import { hash } from "node:crypto";
import type { ChangedList, ListChange } from "./changes.ts";
import { disposable } from "./data/disposable.ts";
import { free } from "./data/free.ts";
import { rareEndings } from "./data/rare-endings.ts";
import { EDITION } from "./edition.ts";
import { findUp } from "./find-up.ts";
import { type DomainList, isOn, type ListVersion } from "./pack.ts";
import { squats } from "./providers.ts";
import { relayDomains } from "./relays.ts";
import { findRole, isRoleWord, listSpellings, roleWords } from "./roles.ts";

/**
 * Free mail providers that we vouch for: they count as free and never as disposable, even if another list contains them.
 * data/free.ts lists the less common providers.
 */
export const webmailDomains: readonly string[] = `
  gmail.com googlemail.com
  outlook.com outlook.fr outlook.de outlook.es outlook.it outlook.pt outlook.jp outlook.com.br outlook.in outlook.be
  outlook.dk outlook.cz outlook.sa outlook.kr outlook.co.th outlook.com.au outlook.ie outlook.hu
  hotmail.com hotmail.co.uk hotmail.fr hotmail.de hotmail.it hotmail.es hotmail.ca hotmail.be hotmail.nl hotmail.gr
  hotmail.se hotmail.no hotmail.dk hotmail.fi hotmail.ch hotmail.com.br hotmail.com.ar hotmail.com.au hotmail.co.jp
  live.com live.co.uk live.fr live.de live.it live.nl live.be live.ca live.se live.no live.dk live.cn live.jp
  live.com.mx live.com.au live.com.ar live.com.pt live.ie live.in msn.com windowslive.com
  yahoo.com yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.in yahoo.ie yahoo.se yahoo.no yahoo.dk
  yahoo.nl yahoo.be yahoo.gr yahoo.pl yahoo.ro yahoo.co.in yahoo.co.id yahoo.co.jp yahoo.co.kr yahoo.co.nz
  yahoo.co.th yahoo.com.au yahoo.com.br yahoo.com.ar yahoo.com.mx yahoo.com.ph yahoo.com.sg yahoo.com.tr
  yahoo.com.tw yahoo.com.vn yahoo.com.hk yahoo.com.my yahoo.com.co yahoo.cn yahoo.com.cn ymail.com rocketmail.com
  myyahoo.com
  aol.com aol.co.uk aol.de aol.fr aim.com love.com games.com wow.com ygm.com
  icloud.com me.com mac.com
  proton.me protonmail.com protonmail.ch pm.me tuta.com tuta.io tutanota.com tutanota.de tutamail.com keemail.me
  fastmail.com fastmail.fm sent.com hey.com zoho.com zohomail.com zoho.eu zoho.in mailfence.com mailbox.org posteo.de
  posteo.net runbox.com kolabnow.com startmail.com hushmail.com hush.com hush.ai hushmail.me riseup.net disroot.org
  airmail.cc cock.li vfemail.net safe-mail.net onmail.com countermail.com lavabit.com
  gmx.com gmx.de gmx.net gmx.at gmx.ch gmx.fr gmx.es gmx.us gmx.co.uk web.de freenet.de t-online.de arcor.de
  mail.de email.de
  mail.com email.com usa.com myself.com consultant.com dr.com techie.com engineer.com post.com writeme.com iname.com
  europe.com cheerful.com accountant.com contractor.net photographer.net lawyer.com doctor.com programmer.net
  musician.org artlover.com chef.net priest.com optician.com salesperson.net dutchmail.com alumni.com email.org
  collector.org birdlover.com deal-maker.com mindless.com presidency.com protestant.com snakebite.com hongkong.com
  mail.ru bk.ru list.ru inbox.ru internet.ru yandex.ru yandex.com yandex.by yandex.kz yandex.ua ya.ru narod.ru
  rambler.ru lenta.ru ro.ru autorambler.ru myrambler.ru pochta.ru ukr.net i.ua meta.ua bigmir.net tut.by
  qq.com vip.qq.com foxmail.com 163.com vip.163.com 126.com yeah.net 188.com sina.com sina.cn vip.sina.com sohu.com
  tom.com 21cn.com 139.com 189.cn wo.cn aliyun.com 263.net eyou.com
  naver.com daum.net hanmail.net nate.com kakao.com korea.com
  docomo.ne.jp ezweb.ne.jp softbank.ne.jp i.softbank.jp au.com excite.co.jp
  rediffmail.com sify.com
  orange.fr wanadoo.fr free.fr sfr.fr neuf.fr laposte.net bbox.fr numericable.fr aliceadsl.fr club-internet.fr
  voila.fr caramail.com
  libero.it virgilio.it alice.it tin.it tim.it tiscali.it inwind.it iol.it email.it fastwebnet.it poste.it
  uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com oi.com.br r7.com zipmail.com.br
  wp.pl o2.pl onet.pl op.pl interia.pl poczta.onet.pl poczta.fm gazeta.pl tlen.pl vp.pl go2.pl
  seznam.cz email.cz centrum.cz post.cz volny.cz azet.sk zoznam.sk freemail.hu citromail.hu abv.bg mail.bg inbox.lv
  sapo.pt mail.pt iol.pt terra.es ya.com latinmail.com walla.com walla.co.il mynet.com maktoob.com
  telenet.be skynet.be ziggo.nl planet.nl hetnet.nl home.nl kpnmail.nl xs4all.nl bluewin.ch sunrise.ch hispeed.ch
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net juno.com netzero.net
  optonline.net frontier.com windstream.net centurylink.net roadrunner.com rr.com twc.com
  btinternet.com virginmedia.com sky.com ntlworld.com talktalk.net blueyonder.co.uk tiscali.co.uk
  bigpond.com bigpond.net.au optusnet.com.au iinet.net.au xtra.co.nz rogers.com shaw.ca sympatico.ca telus.net
  videotron.ca
  lycos.com excite.com inbox.com mail2world.com netscape.net hotbot.com sdf.org`
  .trim()
  .split(/\s+/);

/**
 * Mailboxes that their owners publish to collect unwanted mail; they report a sender who took one from a bought or scraped
 * list. The list is short because a published trap soon stops working. Operators add the traps that their own mail revealed.
 */
const trapAddresses: readonly string[] = [
  "spam@uce.gov",
  "uce@ftc.gov",
  "reportphishing@apwg.org",
  "phishing-report@us-cert.gov",
  "phishing@irs.gov",
  "report@phishing.gov.uk",
];

/** Matches the local part of a mailbox that calls itself a trap, at any domain: spamtrap@, spam-trap@, spamtrap2@. */
const TRAP_LOCAL = /^spam[._-]?traps?\d*(?:@|\+)/;

/** States whether a domain is disposable, and whose list decided. */
type Decision = {
  readonly disposable: boolean;
  readonly by: "operator" | "mailproof" | "edition";
};

/** Callers pass domains as A-labels in lower case, and canonical addresses. A name that no list contains gets the answer no. */
export type Lists = {
  /** True when the domain, or one above it, gives away mailboxes for minutes. */
  readonly disposable: (domain: string) => boolean;
  /** Undefined when no list contains the domain or one above it. */
  readonly decide: (domain: string) => Decision | undefined;
  /** True when only the broad lists contain the domain. They also contain ordinary domains, so the hint decides no verdict. */
  readonly disposableHint: (domain: string) => boolean;
  /** True when this domain gives mailboxes to the public. A subdomain does not count, because it may have another owner. */
  readonly free: (domain: string) => boolean;
  readonly role: (local: string) => string | null;
  readonly trap: (address: string, domain: string) => boolean;
  /** True when the domain forwards mail to a person. */
  readonly relay: (domain: string) => boolean;
  /**
   * Returns the provider whose name people mistyped as this domain. A typosquatter owns the domain and offers no mailboxes. Null
   * for any other domain.
   */
  readonly squat: (domain: string) => string | null;
  /** True when the last label resembles a common ending, as .co and .cm do, and exists in the root zone. */
  readonly rareEnding: (domain: string) => boolean;
  /** The common version of the lists that an edition can replace. */
  readonly edition: string;
  readonly versions: readonly ListVersion[];
  /** Returns the present lists, which stay the same during one verification. */
  readonly current: () => Lists;
};

/** The lists that an edition can replace. Without `broad` no domain gets a hint. */
export type ListEdition = {
  readonly version: string;
  readonly lists: {
    readonly disposable: DomainList;
    readonly free: DomainList;
    readonly rareEndings: DomainList;
    readonly broad?: DomainList;
  };
};

/** The edition without the large list `broad`, so that bundles which do not import that list stay small. */
export const BUILT_IN: ListEdition = {
  version: EDITION,
  lists: { disposable, free, rareEndings },
};

const relays: ReadonlySet<string> = new Set(relayDomains);
const webmail: ReadonlySet<string> = new Set(webmailDomains);
const traps: ReadonlySet<string> = new Set(trapAddresses);

const OURS: Decision = { disposable: false, by: "mailproof" };
const LISTED: Decision = { disposable: true, by: "edition" };

/** Tests whether we vouch for the domain, so that no third-party list makes it disposable. */
export const isTrusted = (domain: string): boolean => relays.has(domain) || webmail.has(domain);

/**
 * Combines the lists of an edition with an operator's changes. From the domain up to its top level, the first level with an
 * answer decides; at each level the operator's changes precede the domains that we vouch for, and these precede the list.
 */
export const createLists = (
  changes: readonly ListChange[] = [],
  { version, lists: listed }: ListEdition = BUILT_IN,
): Lists => {
  const { broad } = listed;
  const changed = groupByList(changes);
  const decide = (domain: string): Decision | undefined =>
    findUp(domain, (at) => {
      const decided = changed.disposable.get(at) ?? (changed.relay.get(at) ? false : undefined);
      if (decided !== undefined) return { disposable: decided, by: "operator" };
      // The sources of these lists wrongly count parked typo domains as disposable.
      if (isTrusted(at) || squats.has(at)) return OURS;
      return isOn(listed.disposable, at) ? LISTED : undefined;
    });
  const isDisposable = (domain: string): boolean | undefined => decide(domain)?.disposable;
  const isTrapDomain = (domain: string) => findUp(domain, (at) => changed.trap.get(at));
  const isRole = (spelling: string) => changed.role.get(spelling) ?? isRoleWord(spelling);

  const lists: Lists = {
    disposable: (domain) => isDisposable(domain) === true,
    decide,
    disposableHint: (domain) =>
      broad !== undefined &&
      isDisposable(domain) === undefined &&
      findUp(domain, (at) => isOn(broad, at) || undefined) === true,
    free: (domain) =>
      changed.free.get(domain) ??
      ((webmail.has(domain) || isOn(listed.free, domain)) && isDisposable(domain) !== true),
    role: (local) => findRole(local, isRole),
    trap: (address, domain) =>
      changed.trap.get(address) ??
      isTrapDomain(domain) ??
      (traps.has(address) || TRAP_LOCAL.test(address)),
    relay: (domain) =>
      findUp(domain, (at) => changed.relay.get(at) ?? (relays.has(at) || undefined)) === true,
    squat: (domain) =>
      isDisposable(domain) === true
        ? null
        : (findUp(domain, (at) =>
            changed.free.get(at) || changed.relay.get(at) ? null : squats.get(at),
          ) ?? null),
    rareEnding: (domain) =>
      isOn(listed.rareEndings, `${domain.slice(domain.lastIndexOf(".") + 1)}.`),
    edition: version,
    versions: [
      ...[listed.disposable, listed.free, ...(broad ? [broad] : [])].map(toVersion),
      ...OWN,
      ...(changes.length > 0 ? [createVersion("changes", "operator", changes.map(toLine))] : []),
    ],
    current: () => lists,
  };
  return lists;
};

/** Lists that can be replaced while they are in use. */
export const createReplaceableLists = (first: Lists) => {
  let now = first;
  const lists: Lists = {
    disposable: (domain) => now.disposable(domain),
    decide: (domain) => now.decide(domain),
    disposableHint: (domain) => now.disposableHint(domain),
    free: (domain) => now.free(domain),
    role: (local) => now.role(local),
    trap: (address, domain) => now.trap(address, domain),
    relay: (domain) => now.relay(domain),
    squat: (domain) => now.squat(domain),
    rareEnding: (domain) => now.rareEnding(domain),
    get edition() {
      return now.edition;
    },
    get versions() {
      return now.versions;
    },
    current: () => now,
  };
  const replace = (next: Lists): void => {
    now = next;
  };
  return { lists, replace };
};

type ChangedEntries = Readonly<Record<ChangedList, ReadonlyMap<string, boolean>>>;

const groupByList = (changes: readonly ListChange[]): ChangedEntries => {
  const of = (list: ChangedList, keysOf = (entry: string): readonly string[] => [entry]) =>
    new Map(
      changes
        .filter((change) => change.list === list)
        .flatMap(({ add, entry }) => keysOf(entry).map((key) => [key, add] as const)),
    );
  return {
    disposable: of("disposable"),
    free: of("free"),
    relay: of("relay"),
    trap: of("trap"),
    role: of("role", listSpellings),
  };
};

const toLine = ({ add, list, entry }: ListChange): string => `${add ? "+" : "-"}${list} ${entry}`;

const toVersion = ({ list, source, version, entries, sha256 }: ListVersion): ListVersion => ({
  list,
  source,
  version,
  entries,
  sha256,
});

/** A hash of its entries is the version of a list that no edition replaces. */
const createVersion = (list: string, source: string, entries: readonly string[]): ListVersion => {
  const sha256 = hash("sha256", entries.toSorted().join("\n"));
  return { list, source, version: sha256.slice(0, 12), entries: entries.length, sha256 };
};

const OWN: readonly ListVersion[] = [
  createVersion("webmail", "mailproof", webmailDomains),
  createVersion("relay", "mailproof", relayDomains),
  createVersion("role", "mailproof", roleWords),
  createVersion("trap", "mailproof", trapAddresses),
  createVersion("squat", "mailproof", [...squats.keys()]),
];
