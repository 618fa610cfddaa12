// node packages/dashboard/build.ts prints the files of the dashboard as JSON, which is what the server of a clone reads
// (packages/local/src/server/dashboard-build.ts), and what a bundle for AWS carries (packages/functions/bundle.ts).
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { build, type InlineConfig, type Rolldown } from "vite";

/** A text, and the same compressed, in base64: a client gets it as it is. */
type BuiltFile = { readonly text: string; readonly br: string; readonly gzip: string };

export type BuiltDashboard = {
  /** By path below /app/. */
  readonly files: Readonly<Record<string, BuiltFile>>;
  /** Packages of others that are inside. */
  readonly packages: readonly string[];
};

/** The first of each with `light-dark()`, which would otherwise be spelt out for each colour. */
const BROWSERS = ["chrome123", "edge123", "firefox120", "safari17.5"];

const SHIMS = join(import.meta.dirname, "src/shims");

/** What many screens share, and the pages of people, are one chunk each: small files compress worse. */
const CHUNKS: Rolldown.OutputOptions["codeSplitting"] = {
  includeDependenciesRecursively: false,
  groups: [
    { name: "index", tags: ["$initial"], priority: 1 },
    {
      name: "shared",
      test: /parts\/(?:csv-button|stacked-bar|one-line-form|row-table|day-chart|words)|facets|wait-sentence|domain-list|send-advice/,
    },
    { name: "people", test: /src\/(?:people\/|frame\/sign-in)/ },
  ],
};

export const OPTIONS: InlineConfig = {
  root: import.meta.dirname,
  configFile: false,
  envDir: false,
  publicDir: false,
  mode: "production",
  logLevel: "warn",
  base: "/app/",
  resolve: {
    // What core takes from Node.
    alias: [
      { find: /^node:url$/, replacement: join(SHIMS, "url.ts") },
      { find: /^\.\/octets\.ts$/, replacement: join(SHIMS, "octets.ts") },
      { find: /^\.\/latin1\.ts$/, replacement: join(SHIMS, "latin1.ts") },
    ],
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
  experimental: {
    // The page names its files below /app/, where the server puts its base path in front. They find each other.
    renderBuiltUrl: (_file, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  build: {
    target: BROWSERS,
    write: false,
    modulePreload: { polyfill: false },
    // A font or a picture inside the code would need a rule of its own in the Content-Security-Policy.
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: CHUNKS } },
    reportCompressedSize: false,
  },
};

const [brotliCompressed, gzipped] = [promisify(brotliCompress), promisify(gzip)];

const compress = async (text: string): Promise<BuiltFile> => {
  const [br, gz] = await Promise.all([brotliCompressed(text), gzipped(text, { level: 9 })]);
  return { text, br: br.toString("base64"), gzip: gz.toString("base64") };
};

const toText = (file: Rolldown.OutputAsset | Rolldown.OutputChunk): string => {
  const content = file.type === "chunk" ? file.code : file.source;
  return typeof content === "string" ? content : Buffer.from(content).toString("utf8");
};

const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;

export const buildDashboard = async (): Promise<BuiltDashboard> => {
  // Vite reads it, and a test run sets it to something else.
  process.env["NODE_ENV"] = "production";
  const { output } = (await build(OPTIONS)) as Rolldown.RolldownOutput;
  const files = await Promise.all(
    output.map(async (file) => [file.fileName, await compress(toText(file))] as const),
  );
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const packages = new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[1] ?? []));
  return { files: Object.fromEntries(files), packages: [...packages].toSorted() };
};

if (import.meta.main) process.stdout.write(JSON.stringify(await buildDashboard()));
