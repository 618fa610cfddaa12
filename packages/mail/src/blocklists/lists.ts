import type { Severity } from "../issue.ts";
import * as weights from "../issue-rules.ts";

export type ListMeaning = {
  readonly says: string;
  readonly severity: Severity;
  readonly costPoints: number;
};

/** The meanings of the addresses in an answer. An address without a meaning gives no verdict. */
export type ListCodes =
  | {
      readonly kind: "exact";
      readonly meanings: Readonly<Record<string, ListMeaning>>;
      readonly good?: readonly string[];
      /** The meaning of every other 127.x.x.x (RFC 5782 §2.1), for a list that documents no codes. */
      readonly others?: ListMeaning;
    }
  | { readonly kind: "bits"; readonly meanings: Readonly<Record<number, ListMeaning>> };

/** A list's requirement before it answers: a key inside its zone, or registered name servers. */
export type ListKeyRequirement = { readonly key: string; readonly isInZone: boolean };

export type Blocklist = {
  readonly id: string;
  readonly name: string;
  readonly asks: "ip" | "domain";
  readonly zone: string;
  readonly needs?: ListKeyRequirement;
  readonly codes: ListCodes;
  /** Test entries that the list must have and must not have (RFC 5782 §5). Null when no such entry is known. */
  readonly mustList: string | null;
  readonly mustNotList: string;
  /** The points of a listing in the spam assessment, when they differ from its cost. */
  readonly spamPoints?: number;
  readonly removal: string;
};

const critical = (says: string): ListMeaning => ({ says, ...weights.critical(60) });
const high = (says: string, costPoints: number): ListMeaning => ({
  says,
  ...weights.high(costPoints),
});
const medium = (says: string, costPoints: number): ListMeaning => ({
  says,
  ...weights.medium(costPoints),
});

const BY_IP = { asks: "ip", mustList: "2.0.0.127", mustNotList: "1.0.0.127" } as const;
/** A list of domains also answers addresses, and so has the same test entries. */
const BY_DOMAIN = { ...BY_IP, asks: "domain" } as const;

const createSimpleCodes = (meaning: ListMeaning): ListCodes => ({
  kind: "exact",
  meanings: { "127.0.0.2": meaning },
  others: meaning,
});

/**
 * The key of a commercial Spamhaus account: the free key is only for small private use. Without a key Spamhaus refuses cloud resolvers, so
 * the check skips its lists.
 */
export const SPAMHAUS_KEY: ListKeyRequirement = { key: "spamhaus", isInZone: true };
/** Barracuda answers only name servers whose address is registered. Any value of this key confirms the registration. */
export const BARRACUDA_KEY: ListKeyRequirement = { key: "barracuda", isInZone: false };

const SPAMHAUS = { needs: SPAMHAUS_KEY, removal: "https://check.spamhaus.org/" } as const;

const XBL = critical("XBL: a machine taken over, or an open proxy");
const PBL = medium("PBL: an address that should not send mail directly", 15);

/** One code for each hour of a domain's first day: 127.0.2.2 to 127.0.2.24. */
const HOURS = Array.from({ length: 23 }, (_, index) => index + 2);

const BY_ID: Readonly<Record<string, Omit<Blocklist, "id">>> = {
  "spamhaus-zen": {
    ...BY_IP,
    ...SPAMHAUS,

    name: "Spamhaus ZEN",
    zone: "KEY.zen.dq.spamhaus.net",
    codes: {
      kind: "exact",
      meanings: {
        "127.0.0.2": critical("SBL: a source of spam"),
        "127.0.0.3": high("CSS: sends bulk mail of low repute", 40),
        "127.0.0.4": XBL,
        // Spamhaus reserves these codes for the XBL, and does not use them today.
        "127.0.0.5": XBL,
        "127.0.0.6": XBL,
        "127.0.0.7": XBL,
        "127.0.0.9": critical("DROP: a network of criminals"),
        "127.0.0.10": PBL,
        "127.0.0.11": PBL,
        "127.0.0.30": critical("BCL: commands a botnet"),
      },
    },
  },
  "spamhaus-dbl": {
    ...SPAMHAUS,

    name: "Spamhaus DBL",
    asks: "domain",
    zone: "KEY.dbl.dq.spamhaus.net",
    // The DBL answers an address with its own error code, 127.0.1.255.
    mustList: "dbltest.com",
    mustNotList: "invalid",
    spamPoints: 40,
    codes: {
      kind: "exact",
      meanings: {
        "127.0.1.2": high("a domain of low repute", 60),
        "127.0.1.4": critical("a phishing domain"),
        "127.0.1.5": critical("a malware domain"),
        "127.0.1.6": critical("commands a botnet"),
        "127.0.1.102": high("an honest domain, abused for spam", 30),
        "127.0.1.103": high("an honest redirector, abused for spam", 30),
        "127.0.1.104": high("an honest domain, abused for phishing", 30),
        "127.0.1.105": high("an honest domain, abused for malware", 30),
        "127.0.1.106": high("an honest domain, abused by a botnet", 30),
      },
    },
  },
  "spamhaus-zrd": {
    ...SPAMHAUS,

    name: "Spamhaus ZRD",
    asks: "domain",
    zone: "KEY.zrd.dq.spamhaus.net",
    mustList: null,
    mustNotList: "invalid",
    spamPoints: 15,
    codes: {
      kind: "exact",
      meanings: Object.fromEntries(
        HOURS.map((hours) => [
          `127.0.2.${hours}`,
          medium(`a domain first seen within the last ${hours} hours`, 20),
        ]),
      ),
    },
  },
  spamcop: {
    ...BY_IP,

    name: "SpamCop",
    zone: "bl.spamcop.net",
    codes: createSimpleCodes(high("reported as a source of spam", 30)),
    removal: "https://www.spamcop.net/bl.shtml",
  },
  barracuda: {
    ...BY_IP,

    name: "Barracuda",
    zone: "b.barracudacentral.org",
    needs: BARRACUDA_KEY,
    codes: createSimpleCodes(high("a source of spam", 30)),
    removal: "https://www.barracudacentral.org/rbl/removal-request",
  },
  psbl: {
    ...BY_IP,

    name: "PSBL",
    zone: "psbl.surriel.com",
    codes: createSimpleCodes(high("sent mail to spam traps", 20)),
    removal: "https://psbl.org/",
  },
  mailspike: {
    ...BY_IP,

    name: "Mailspike",
    zone: "bl.mailspike.net",
    codes: {
      kind: "exact",
      meanings: {
        "127.0.0.2": high("part of a wave of spam", 20),
        "127.0.0.10": high("worst reputation", 20),
        "127.0.0.11": high("very bad reputation", 20),
        "127.0.0.12": high("bad reputation", 20),
      },
      good: ["13", "14", "15", "16", "17", "18", "19", "20"].map((last) => `127.0.0.${last}`),
    },
    removal: "https://mailspike.org/",
  },
  surbl: {
    ...BY_DOMAIN,

    name: "SURBL",
    zone: "multi.surbl.org",
    spamPoints: 40,
    codes: {
      kind: "bits",
      meanings: {
        4: high("DM: a disposable or spam domain", 50),
        8: high("PH: a phishing domain", 50),
        16: high("MW: a malware domain", 50),
        32: high("CT: a click tracker of spam", 50),
        64: high("ABUSE: named in spam", 50),
        128: high("CR: a site taken over", 50),
      },
    },
    removal: "https://surbl.org/surbl-analysis",
  },
  uribl: {
    ...BY_DOMAIN,

    name: "URIBL",
    zone: "multi.uribl.com",
    codes: {
      kind: "bits",
      meanings: {
        2: high("black: named in spam", 40),
        4: medium("grey: named in unasked bulk mail", 5),
        8: medium("red: looks like a spammer's", 10),
      },
    },
    removal: "https://admin.uribl.com/",
  },
  "uceprotect-1": {
    ...BY_IP,

    name: "UCEPROTECT Level 1",
    zone: "dnsbl-1.uceprotect.net",
    codes: createSimpleCodes(medium("sent mail to spam traps; few receivers ask this list", 5)),
    removal: "https://www.uceprotect.net/en/rblcheck.php",
  },
  spameatingmonkey: {
    ...BY_IP,

    name: "Spam Eating Monkey",
    zone: "bl.spameatingmonkey.net",
    codes: createSimpleCodes(medium("sent mail to spam traps", 10)),
    removal: "https://spameatingmonkey.com/lookup",
  },
  "blocklist-de": {
    ...BY_IP,

    name: "blocklist.de",
    zone: "bl.blocklist.de",
    codes: createSimpleCodes(medium("attacked servers", 10)),
    removal: "https://www.blocklist.de/en/delist.html",
  },
};

export const BLOCKLISTS: readonly Blocklist[] = Object.entries(BY_ID).map(([id, list]) => ({
  id,
  ...list,
}));

/** Creates a list from the zone that an operator names: it lists addresses, every code is a listing, and its website is at the zone. */
export const createList = (zone: string): Blocklist => ({
  ...BY_IP,
  id: zone,
  name: zone,
  zone,
  codes: createSimpleCodes(high("listed", 20)),
  removal: `https://${zone}/`,
});

export const findLists = (names: readonly string[]): readonly Blocklist[] =>
  names
    .map((name) => name.toLowerCase())
    .map(
      (name) => BLOCKLISTS.find(({ id, zone }) => id === name || zone === name) ?? createList(name),
    );
