import type { Client } from "@mailproof/client";
import { toDocsHref } from "../base.ts";
import type { toTitle } from "../screens/lists/job.ts";

// The results of Ctrl K besides the screens. The browser loads this module when the palette first opens. It must not import modules of the
// page that have state: the bundler would then split the page's own code into two files.

export type Command = {
  readonly title: string;
  readonly kind: string | null;
  /** A second search key: an id, a name in ASCII or a route. */
  readonly key?: string;
  /** A text that the palette searches only when no title or key matches. */
  readonly text?: string;
  /** The target: a screen by its path, another page by its URL, or a screen with an address, which stays out of the URL. */
  readonly path?: string;
  readonly href?: string;
  readonly email?: string;
  readonly run?: () => void;
};

const LISTS_MAX = 100;

const toDomain = (domain: string, title: string): Command => ({
  title,
  kind: "Domain",
  key: domain,
  path: `domains/${encodeURIComponent(domain)}`,
});

type ToTitle = typeof toTitle;

const readLists = async (client: Client, toTitle: ToTitle): Promise<readonly Command[]> =>
  (await client.listJobs({ kind: "list", limit: LISTS_MAX })).jobs.map((job) => ({
    title: toTitle(job),
    kind: "List",
    key: job.job_id,
    path: `lists/${job.job_id}`,
  }));

const readDomains = async (client: Client): Promise<readonly Command[]> => {
  const { monitors } = await client.listMonitors();
  const names = new Map(monitors.map(({ domain, domain_unicode: name }) => [domain, name]));
  return [...names].map(([domain, name]) => toDomain(domain, name));
};

/** A key may lack access to lists or to domains: the palette then shows only the other kind. */
export const readPlaces = async (client: Client, toTitle: ToTitle): Promise<readonly Command[]> =>
  (
    await Promise.all(
      [readLists(client, toTitle), readDomains(client)].map((read) => read.catch(() => [])),
    )
  ).flat();

type ManualEntry = {
  readonly title: string;
  readonly page: string;
  readonly route?: string;
  readonly text: string;
};

let manual: readonly Command[] = [];

export const readManual = async (): Promise<readonly Command[]> => {
  if (manual.length > 0) return manual;
  const response = await fetch(toDocsHref("/search.json"));
  const entries = response.ok ? ((await response.json()) as readonly ManualEntry[]) : [];
  manual = entries.map(({ title, page, route = "", text }) => ({
    title,
    text: text.toLowerCase(),
    kind: "Manual",
    key: `${route} ${page}`,
    href: toDocsHref(`/${page}`),
  }));
  return manual;
};

const IDS: readonly (readonly [prefix: string, of: string, path: string])[] = [
  ["job_", "List", "lists/"],
  ["req_", "Request", "logs?request="],
  ["whk_", "Webhook", "webhooks/"],
  ["key_", "Requests of", "logs?key="],
];

/** Returns the command that opens the item with the typed id, copied from a program or a log. */
const findId = (typed: string): readonly Command[] =>
  IDS.filter(([prefix]) => typed.startsWith(prefix) && /^\w{4}[\w-]{8,}$/.test(typed)).map(
    ([, of, path]) => ({ title: `${of} ${typed}`, kind: "Id", path: path + typed }),
  );

const DOMAIN = /^(?:https?:\/\/)?([^\s@/:]+\.[^\s@/:.]{2,})\/?$/i;

const filter = (all: readonly Command[], words: readonly string[]): readonly Command[] =>
  all.filter(({ title, kind, key = "" }) =>
    words.every((word) => `${title} ${kind} ${key}`.toLowerCase().includes(word)),
  );

/** The palette shows at most this number of the manual's pages, after the account's own results. */
const PAGES_MAX = 6;

/** Searches the text of pages only when nothing else is found, because it contains almost any word. */
const findPages = (
  all: readonly Command[],
  words: readonly string[],
  isAlone: boolean,
): readonly Command[] => {
  const named = filter(all, words);
  const found =
    isAlone && named.length === 0
      ? all.filter(({ text }) => words.every((word) => text?.includes(word)))
      : named;
  return found.slice(0, PAGES_MAX);
};

type Found = {
  readonly commands: readonly Command[];
  readonly places: readonly Command[];
  readonly manual: readonly Command[];
  /** An operator has no account, so no ids, domains or addresses are offered. */
  readonly isOperator: boolean;
  readonly isTestKey: boolean;
};

export const findCommands = (
  text: string,
  { commands, places, manual: all, isOperator, isTestKey }: Found,
): readonly Command[] => {
  const typed = text.trim();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands;
  const found = filter(isOperator ? commands : [...commands, ...places], words);
  if (isOperator) return [...found, ...findPages(all, words, found.length === 0)];
  if (typed.includes("@"))
    return [
      { title: `Verify ${typed}`, kind: isTestKey ? "Free" : null, path: "verify", email: typed },
      ...found,
    ];
  const ids = found.some(({ key }) => key === typed) ? [] : findId(typed);
  const domain = DOMAIN.exec(typed)?.[1]?.toLowerCase();
  const isFound = found.some(({ title, key }) => domain === key || domain === title);
  // The check comes after the lists, because the names of files look like domains.
  const report = domain === undefined || isFound ? [] : [toDomain(domain, `Check of ${domain}`)];
  const own = [...ids, ...found, ...report];
  return [...own, ...findPages(all, words, own.length === 0)];
};
