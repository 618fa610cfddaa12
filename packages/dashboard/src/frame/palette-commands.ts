import type { Client } from "@mailproof/client";
import { toDocsHref } from "../base.ts";
import type { toTitle } from "../screens/lists/job.ts";

// What Ctrl K finds beside the screens. It is loaded when the palette is first opened. It imports nothing of the page that has
// state: the bundler would then cut the page's own code into two files.

export type Command = {
  readonly title: string;
  /** Null: the price of a verification. */
  readonly kind: string | null;
  /** An id, a name in ASCII or a route by which it is also found. */
  readonly key?: string;
  /** By which it is found where nothing else is. */
  readonly text?: string;
  /** What it opens: a screen by its path, another page by its URL, and a screen with an address, which is in no URL. */
  readonly path?: string;
  readonly href?: string;
  readonly email?: string;
  /** Absent where it opens something. */
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

/** The newest. */
const readLists = async (client: Client, toTitle: ToTitle): Promise<readonly Command[]> =>
  (await client.listJobs({ limit: LISTS_MAX })).jobs.map((job) => ({
    title: toTitle(job),
    kind: "List",
    key: job.job_id,
    path: `lists/${job.job_id}`,
  }));

/** Those that are watched. */
const readDomains = async (client: Client): Promise<readonly Command[]> => {
  const { monitors } = await client.listMonitors();
  // One domain may be watched with several sending addresses.
  const names = new Map(monitors.map(({ domain, domain_unicode: name }) => [domain, name]));
  return [...names].map(([domain, name]) => toDomain(domain, name));
};

/** A key may not read one of them: the palette is complete without it. */
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

/** The index of the manual's own search, read once. */
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

/** An id that was copied from a program or a log leads to what it names. */
const findId = (typed: string): readonly Command[] =>
  IDS.filter(([prefix]) => typed.startsWith(prefix) && /^\w{4}[\w-]{8,}$/.test(typed)).map(
    ([, of, path]) => ({ title: `${of} ${typed}`, kind: "Id", path: path + typed }),
  );

const DOMAIN = /^(?:https?:\/\/)?([^\s@/:]+\.[^\s@/:.]{2,})\/?$/i;

const filter = (all: readonly Command[], words: readonly string[]): readonly Command[] =>
  all.filter(({ title, kind, key = "" }) =>
    words.every((word) => `${title} ${kind} ${key}`.toLowerCase().includes(word)),
  );

/** Of the manual, behind what the account has. */
const PAGES_MAX = 6;

/** By their text, which has almost any word, only where nothing else is found. */
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
  /** Screens and settings. */
  readonly commands: readonly Command[];
  readonly places: readonly Command[];
  readonly manual: readonly Command[];
  /** An operator has no account: no ids, domains and addresses of one. */
  readonly isOperator: boolean;
  readonly isTestKey: boolean;
};

export const findCommands = (
  text: string,
  { commands, places, manual: all, isOperator, isTestKey }: Found,
): readonly Command[] => {
  const typed = text.trim();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  // Before a word is typed it is the navigation.
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
  // Behind the lists: their names look like domains, as files' names do.
  const report = domain === undefined || isFound ? [] : [toDomain(domain, `Check of ${domain}`)];
  const own = [...ids, ...found, ...report];
  return [...own, ...findPages(all, words, own.length === 0)];
};
