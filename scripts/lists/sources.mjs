import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { getEditionDate } from "../../packages/mail/src/lists/edition-age.ts";

const require = createRequire(import.meta.url);
const manifest = require("./package.json");

export const { version: EDITION } = manifest;

export const toDay = (ms) => new Date(ms).toISOString().slice(0, 10);

/** The list on PyPI has the name of another one on npm. */
export const PYPI = "disposable-email-domains (PyPI)";
export const PYPI_MANIFEST = {
  version: manifest.pythonDependencies["disposable-email-domains"],
  license: "MIT",
  author: "Copyright (c) 2016 Dustin Ingram",
};

const PYPI_FILE = new URL(
  "node_modules/.pypi/disposable_email_domains/__init__.py",
  import.meta.url,
);
const [, blocklist] = /^blocklist = \{([^}]+)\}/m.exec(readFileSync(PYPI_FILE, "utf8"));
export const upstream = [...blocklist.matchAll(/'([^']+)'/g)].map(([, domain]) => domain);

/** A domain that FakeFilter last saw two years before the edition may have an honest owner by now. */
const SEEN_SINCE = getEditionDate(EDITION).setUTCFullYear(Number(EDITION.slice(0, 4)) - 2);

/** FakeFilter's domains, with the day on which it first saw each. */
export const seen = new Map(
  Object.entries(require("fakefilter/json/data.json").domains)
    .filter(([, { lastseen }]) => lastseen * 1_000 >= SEEN_SINCE)
    .map(([domain, { firstseen }]) => [domain.toLowerCase(), toDay(firstseen * 1_000)]),
);
