import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { build } from "esbuild";
import { BUNDLE } from "../packages/functions/bundle.ts";
import { entriesOf } from "../packages/functions/entries.ts";

// Which packages of others are in what we ship, by what the lock files and the bundler say.

type Locked = {
  readonly version?: string;
  readonly license?: string;
  readonly link?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
};
type Lock = { readonly packages: Readonly<Record<string, Locked>> };
type Manifest = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

/** All of them let anybody use, change and ship the work, in whatever it is part of. */
export const ALLOWED: readonly string[] = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
];

export type Shipped = {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly where: readonly string[];
};

const read = <T>(file: string): T => JSON.parse(readFileSync(file, "utf8")) as T;

const nameOf = (place: string): string =>
  place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);

/** Node's way: beside whoever asks, or further up. */
const placeFrom = (lock: Lock, asker: string, name: string): string => {
  const beside = asker === "" ? `node_modules/${name}` : `${asker}/node_modules/${name}`;
  if (lock.packages[beside]) return beside;
  if (asker === "") throw new Error(`the lock file has no ${name}`);
  return placeFrom(lock, aboveOf(asker), name);
};

const aboveOf = (place: string): string => {
  const at = place.lastIndexOf("/node_modules/");
  return at < 0 ? "" : place.slice(0, at);
};

/** All that a package of ours brings with it, at any depth. */
const closureOf = (lock: Lock, wanted: Manifest["dependencies"] = {}): ReadonlySet<string> => {
  const found = new Set<string>();
  const add = (asker: string, dependencies: Manifest["dependencies"] = {}): void => {
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith("@mailproof/")) continue;
      const place = placeFrom(lock, asker, name);
      if (found.has(place)) continue;
      found.add(place);
      add(place, lock.packages[place]?.dependencies);
    }
  };
  add("", wanted);
  return found;
};

/** What is really in the Lambdas: less than they depend on, since what nothing uses is left out. */
const inLambdas = async (): Promise<ReadonlySet<string>> => {
  const { metafile } = await build({
    ...BUNDLE,
    entryPoints: [...entriesOf("http", "workers", "schedules")],
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
export const shipped = (): Promise<readonly Shipped[]> => (listed ??= listShipped());

let listed: Promise<readonly Shipped[]> | undefined;

const listShipped = async (): Promise<readonly Shipped[]> => {
  const lock = read<Lock>("package-lock.json");
  const folders = globSync("packages/*/package.json").map(dirname);
  const dependenciesOf = (folder: string) =>
    read<Manifest>(`${folder}/package.json`).dependencies ?? {};
  const server = folders.filter((folder) => !["functions", "client"].includes(basename(folder)));
  const all = closureOf(lock, Object.assign({}, ...folders.map(dependenciesOf)));
  const ofServer = closureOf(lock, Object.assign({}, ...server.map(dependenciesOf)));
  const ofLambdas = await inLambdas();
  return [...all].toSorted().map((place) => {
    const { version = "", license = "" } = lock.packages[place] ?? {};
    const where = [
      ...(ofLambdas.has(place) ? ["Lambdas"] : []),
      ...(ofServer.has(place) ? ["server"] : []),
    ];
    return { name: nameOf(place), version, licence: license, where };
  });
};

/** The lists of domains: data of others, told in docs/lists.md. */
export const lists = (): readonly Shipped[] => {
  const [, sources = ""] = readFileSync("docs/lists.md", "utf8").split("## Sources");
  return [...sources.matchAll(/^\| `([^`]+)` +\| (\S+) +\| (\S+) +\|/gm)].map(
    ([, name = "", version = "", licence = ""]) => ({ name, version, licence, where: ["lists"] }),
  );
};

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((_title, at) =>
    Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
};

const rowOf = ({ name, version, licence, where }: Shipped): string[] => [
  `\`${name}\``,
  version,
  licence,
  where.join(", ") || "nothing of it",
];

const toolsOf = (manifest: string, lockFile: string): string => {
  const { devDependencies, optionalDependencies } = read<Manifest>(manifest);
  const { packages } = read<Lock>(lockFile);
  return Object.keys({ ...devDependencies, ...optionalDependencies })
    .toSorted()
    .map((name) => `\`${name}\` (${packages[`node_modules/${name}`]?.license ?? "?"})`)
    .join(", ");
};

export const licencesPage = async (): Promise<string> => `# Licences of what is shipped

Written by \`node scripts/write-licences.mjs\`; do not edit. A test holds it to the lock files and to what esbuild puts into
the Lambdas, and every licence to a list of those that go with MIT (\`scripts/licences.ts\`). The client has no
dependencies.

## Packages

${tableOf(["Package", "Version", "Licence", "In"], (await shipped()).map(rowOf))}

## Data

${tableOf(
  ["List", "Version", "Licence"],
  lists().map((one) => rowOf(one).slice(0, 3)),
)}

Notices are in [lists.md](lists.md).

## Tools

They build, check and test, and as tools are in nothing that is shipped: ${toolsOf("package.json", "package-lock.json")}.

To deploy: ${toolsOf("infra/package.json", "infra/package-lock.json")}.
`;
