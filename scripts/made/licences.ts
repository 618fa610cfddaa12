import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { formatMarkdownTable } from "@mailproof/lab/markdown-table";
import { build } from "esbuild";
import { BUNDLE } from "../../packages/functions/bundle.ts";
import { listEntries } from "../../packages/functions/entries.ts";

// Which packages of others are in what we ship, by what the lock files and the bundler say.

type LockedPackage = {
  readonly version?: string;
  readonly license?: string;
  readonly link?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
};
type Lock = { readonly packages: Readonly<Record<string, LockedPackage>> };
type Manifest = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

export type ShippedPackage = {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly where: readonly string[];
};

const read = <T>(file: string): T => JSON.parse(readFileSync(file, "utf8")) as T;

const getPackageName = (path: string): string =>
  path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

/** As Node resolves it: beside the importing package, or further up. */
const findPackagePath = (lock: Lock, parent: string, name: string): string => {
  const beside = parent === "" ? `node_modules/${name}` : `${parent}/node_modules/${name}`;
  if (lock.packages[beside]) return beside;
  if (parent === "") throw new Error(`the lock file has no ${name}`);
  return findPackagePath(lock, getParentPath(parent), name);
};

const getParentPath = (path: string): string => {
  const at = path.lastIndexOf("/node_modules/");
  return at < 0 ? "" : path.slice(0, at);
};

/** All that a package of ours brings with it, at any depth. */
const collectDependencies = (
  lock: Lock,
  wanted: Manifest["dependencies"] = {},
): ReadonlySet<string> => {
  const found = new Set<string>();
  const add = (parent: string, dependencies: Manifest["dependencies"] = {}): void => {
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith("@mailproof/")) continue;
      const path = findPackagePath(lock, parent, name);
      if (found.has(path)) continue;
      found.add(path);
      add(path, lock.packages[path]?.dependencies);
    }
  };
  add("", wanted);
  return found;
};

/** What is really in the Lambdas: less than they depend on, since what nothing uses is left out. */
const findBundledPackages = async (): Promise<ReadonlySet<string>> => {
  const { metafile } = await build({
    ...BUNDLE,
    entryPoints: [...listEntries("http", "workers", "schedules")],
    outdir: "unwritten",
    write: false,
    metafile: true,
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([input]) => input),
  );
  return new Set(
    inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
};

/** Bundling all Lambdas takes seconds, so a process does it once. */
export const loadShipped = (): Promise<readonly ShippedPackage[]> =>
  (shippedOnce ??= listShipped());

let shippedOnce: Promise<readonly ShippedPackage[]> | undefined;

const listShipped = async (): Promise<readonly ShippedPackage[]> => {
  const lock = read<Lock>("package-lock.json");
  const folders = globSync("packages/*/package.json").map(dirname);
  // Of a package whose bundle is what is shipped, the bundled ones are development dependencies: nothing else needs them.
  const readDependencies = (folder: string) => {
    const { dependencies, devDependencies } = read<Manifest>(`${folder}/package.json`);
    return { ...dependencies, ...devDependencies };
  };
  const server = folders.filter((folder) => !["functions", "client"].includes(basename(folder)));
  const all = collectDependencies(lock, Object.assign({}, ...folders.map(readDependencies)));
  const ofServer = collectDependencies(lock, Object.assign({}, ...server.map(readDependencies)));
  const ofLambdas = await findBundledPackages();
  return [...all].toSorted().map((path) => {
    const { version = "", license = "" } = lock.packages[path] ?? {};
    const where = [
      ...(ofLambdas.has(path) ? ["Lambdas"] : []),
      ...(ofServer.has(path) ? ["server"] : []),
    ];
    return { name: getPackageName(path), version, licence: license, where };
  });
};

/** Data of others: the lists of domains, described in docs/lists.md, and the readings of Chinese characters. */
export const readDataLicences = (): readonly ShippedPackage[] => {
  const [, sources = ""] = readFileSync("docs/lists.md", "utf8").split("## Sources");
  const lists = [...sources.matchAll(/^\| `([^`]+)` +\| (\S+) +\| (\S+) +\|/gm)].map(
    ([, name = "", version = "", licence = ""]) => ({ name, version, licence, where: ["lists"] }),
  );
  return [...lists, UNICODE_DATA];
};

/** `packages/core/src/find/spelling/pinyin.ts`. */
const UNICODE_DATA: ShippedPackage = {
  name: "cldr, Han-Latin",
  version: "42",
  licence: "Unicode-DFS-2016",
  where: ["pinyin"],
};

/** The licence requires its own text next to the data. */
const UNICODE_NOTICE = `Copyright © 1991-2022 Unicode, Inc. All rights reserved. Permission is hereby granted, free of charge, to any
person obtaining a copy of the Unicode data files and any associated documentation (the "Data Files") or Unicode software and any
associated documentation (the "Software") to deal in the Data Files or Software without restriction, including without limitation
the rights to use, copy, modify, merge, publish, distribute, and/or sell copies of the Data Files or Software, and to permit persons
to whom the Data Files or Software are furnished to do so, provided that either (a) this copyright and permission notice appear with
all copies of the Data Files or Software, or (b) this copyright and permission notice appear in associated Documentation. THE DATA
FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED.`;

/** The licence of `fakefilter`, which requires its own text too. */
const FAKEFILTER_NOTICE = `Copyright (c) 2022, 7c
All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following
disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
disclaimer in the documentation and/or other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote
products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,
WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`;

/** A line for each licence and place: a row for each package would repeat both. */
const formatPackages = (shipped: readonly ShippedPackage[]): string => {
  const groups = Map.groupBy(
    shipped,
    ({ licence, where }) =>
      `${licence}, ${where.length === 0 ? "in nothing" : `in ${where.join(" and ")}`}`,
  );
  return [...groups]
    .toSorted(([one], [other]) => one.localeCompare(other, "en"))
    .map(
      ([group, packages]) =>
        `- ${group}: ${packages.map(({ name, version }) => `\`${name}\` ${version}`).join(", ")}`,
    )
    .join("\n");
};

const quote = (text: string): string =>
  text.replaceAll(/^(.?)/gm, (_, first) => `>${first && " "}${first}`);

export const formatLicencesPage = async (): Promise<string> => `# Licences of the shipped packages

Written by \`npx node scripts/write.ts licences\`; do not edit. A test compares it with the lock files and the bundles that
esbuild makes, and every licence with a list of those compatible with MIT (\`scripts/made/licences.ts\`). The client has no
dependencies. \`mailproof licences\` prints the texts of these licences: they are inside the npm package and the executable, and in
\`dist/LICENCES.txt\`. The executable also contains Node, whose licence is the last of the texts.

## Packages

The licence of each package, and where its code is: in Lambdas, in the server, or in nothing that we ship.

${formatPackages(await loadShipped())}

## Data

${formatMarkdownTable(
  ["Data", "Version", "Licence"],
  readDataLicences().map(({ name, version, licence }) => [`\`${name}\``, version, licence]),
)}

Notices of the lists are in [lists.md](lists.md). That of \`fakefilter\`:

${quote(FAKEFILTER_NOTICE)}

That of the readings of Chinese characters:

${quote(UNICODE_NOTICE)}
`;
