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
 * Freemail providers that we vouch for: always free, and never disposable, whatever another list says. The
 * long tail is data/free.ts.
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
 * A trap that is public is not a trap for long, so this list is tiny on purpose: mailboxes that their owners
 * publish to collect unwanted mail and act on it. A sender that writes to one from a bought or scraped list is
 * reported. An operator adds what his own history has shown.
 */
const trapAddresses: readonly string[] = [
  "spam@uce.gov",
  "uce@ftc.gov",
  "reportphishing@apwg.org",
  "phishing-report@us-cert.gov",
  "phishing@irs.gov",
  "report@phishing.gov.uk",
];

/** A mailbox that says so itself, at any domain: spamtrap@, spam-trap@, spamtrap2@. */
const TRAP_LOCAL = /^spam[._-]?traps?\d*(?:@|\+)/;

/** The answer whether a domain is disposable, and who gave it. */
type Decision = {
  readonly disposable: boolean;
  readonly by: "operator" | "mailproof" | "edition";
};

/** Domains are in A-labels and lower case, addresses canonical. Nothing here is ever unknown: absent is no. */
export type Lists = {
  /** Gives mailboxes away for minutes. A subdomain of such a domain counts too. */
  readonly disposable: (domain: string) => boolean;
  /** Undefined: nothing names the domain or one above it. */
  readonly decide: (domain: string) => Decision | undefined;
  /** Only on the broad lists, which also hold ordinary domains: a signal, never a verdict on its own. */
  readonly disposableHint: (domain: string) => boolean;
  /** A provider that is open to the public; exactly this domain, since a subdomain has an owner of its own. */
  readonly free: (domain: string) => boolean;
  readonly role: (local: string) => string | null;
  readonly trap: (address: string, domain: string) => boolean;
  /** Passes mail on to a person. */
  readonly relay: (domain: string) => boolean;
  /**
   * The provider that people mean who type this domain by mistake: its owner holds it for that, and offers no mailboxes.
   * Null for any other domain.
   */
  readonly squat: (domain: string) => string | null;
  /** Whether the last label looks like a slip of a common ending and is none: the root has it. */
  readonly rareEnding: (domain: string) => boolean;
  /** The version of the lists that have a release of their own, all together. */
  readonly edition: string;
  readonly versions: readonly ListVersion[];
  /** The lists as they are now, unchanged while one address is verified. */
  readonly current: () => Lists;
};

/** The lists that have their own releases. Without `broad` there are no hints. */
export type ListEdition = {
  readonly version: string;
  readonly lists: {
    readonly disposable: DomainList;
    readonly free: DomainList;
    readonly rareEndings: DomainList;
    readonly broad?: DomainList;
  };
};

/** `broad` is not among them because it is large: a bundle that does not name it does not carry it. */
export const BUILT_IN: ListEdition = {
  version: EDITION,
  lists: { disposable, free, rareEndings },
};

const relays: ReadonlySet<string> = new Set(relayDomains);
const webmail: ReadonlySet<string> = new Set(webmailDomains);
const traps: ReadonlySet<string> = new Set(trapAddresses);

const OURS: Decision = { disposable: false, by: "mailproof" };
const LISTED: Decision = { disposable: true, by: "edition" };

/** We vouch for these, so no list of others makes them disposable. */
export const isTrusted = (domain: string): boolean => relays.has(domain) || webmail.has(domain);

/**
 * The lists of an edition, with an operator's changes on top. At each level of a domain the operator is asked
 * first, then the domains we vouch for, then the list; the most specific level that has an answer gives it.
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
      // The broad lists that these lists come from take a parked typo domain for a giver of mailboxes.
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

/** A list of our own has no release: what it holds is its version. */
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
