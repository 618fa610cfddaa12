import { isDomain, parseDomain } from "../../domain.ts";
import { parseIp } from "../../ip.ts";
import { type HtmlLink, LINKS_MAX } from "./html.ts";

/** Services that hide the target of a link. Filters count links through them against a mail. */
const SHORTENERS: ReadonlySet<string> = new Set([
  "bit.ly",
  "bit.do",
  "buff.ly",
  "cli.gs",
  "cutt.ly",
  "dlvr.it",
  "goo.gl",
  "is.gd",
  "lnkd.in",
  "ow.ly",
  "rb.gy",
  "rebrand.ly",
  "s.id",
  "shorte.st",
  "shorturl.at",
  "snip.ly",
  "t.co",
  "t.ly",
  "tiny.cc",
  "tinyurl.com",
  "tr.im",
  "trib.al",
  "urlz.fr",
  "v.gd",
  "vk.cc",
]);

export type LinkHost = {
  readonly host: string;
  readonly count: number;
  readonly isShortener: boolean;
  readonly isIp: boolean;
  readonly isPlain: boolean;
};

export type MessageLinks = {
  readonly count: number;
  readonly hosts: readonly LinkHost[];
  readonly mismatches: readonly { readonly shown: string; readonly host: string }[];
};

const HOSTS_MAX = 50;
const HOST_LENGTH_MAX = 253;
const MISMATCHES_MAX = 10;

/** Finds a URL in a plain text. Punctuation at the end of a sentence is not part of the URL. */
const URL_IN_TEXT = /\bhttps?:\/\/[^\s<>"'\])]{1,2000}/gi;

export const listTextLinks = (text: string): readonly HtmlLink[] =>
  Iterator.from(text.matchAll(URL_IN_TEXT))
    .take(LINKS_MAX)
    .map(([href]) => ({ href: href.replace(/[.,;:!?]$/, ""), text: "" }))
    .toArray();

export const analyseLinks = (links: readonly HtmlLink[]): MessageLinks => {
  const hosts = new Map<string, { count: number; isPlain: boolean }>();
  const mismatches: { shown: string; host: string }[] = [];
  for (const { href, text } of links) {
    const url = parseUrl(href);
    if (!url) continue;
    const before = hosts.get(url.host);
    hosts.set(url.host, {
      count: (before?.count ?? 0) + 1,
      isPlain: url.isPlain || (before?.isPlain ?? false),
    });
    const shown = findShownHost(text);
    if (shown !== undefined && !isRelated(shown, url.host) && mismatches.length < MISMATCHES_MAX)
      mismatches.push({ shown, host: url.host });
  }
  const listed = [...hosts]
    .map(([host, of]) => ({
      host,
      ...of,
      isShortener: SHORTENERS.has(host.replace(/^www\./, "")),
      isIp: parseIp(host) !== undefined,
    }))
    .toSorted((a, b) => b.count - a.count || (a.host < b.host ? -1 : 1));
  const count = listed.reduce((sum, one) => sum + one.count, 0);
  return { count, hosts: listed.slice(0, HOSTS_MAX), mismatches };
};

const parseUrl = (
  href: string,
): { readonly host: string; readonly isPlain: boolean } | undefined => {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href)) return undefined;
  const { hostname, protocol } = new URL(href);
  const host = hostname.replace(/\.$/, "").replace(/^\[(.*)\]$/, "$1");
  const isHost = host !== "" && host.length <= HOST_LENGTH_MAX;
  return isHost ? { host, isPlain: protocol === "http:" } : undefined;
};

const findShownHost = (text: string): string | undefined => {
  const shown = /^(?:https?:\/\/)?([^\s/@:?#]{4,253})(?:[/:?#]\S*)?$/i.exec(text)?.[1];
  if (shown === undefined) return undefined;
  const parsed = parseDomain(shown);
  return isDomain(parsed) && /\.[a-z]{2,}$/.test(parsed.ascii) ? parsed.ascii : undefined;
};

/** Names with the same last two labels mostly have one owner: "www" and "mail" of a company. */
const isRelated = (one: string, other: string): boolean => getBase(one) === getBase(other);

const getBase = (host: string): string => host.split(".").slice(-2).join(".");
