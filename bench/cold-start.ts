import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { BUNDLE } from "../packages/functions/bundle.ts";
import { type LambdaKind, listEntries } from "../packages/functions/entries.ts";
import { getLambdaGroup, type LambdaGroup } from "./lambda-groups.ts";
import {
  computeMedian,
  createRow,
  formatNumber,
  type Report,
  type ReportRow,
  type ReportTable,
} from "./report.ts";

// What a Lambda weighs, and how long a fresh process takes to have its handler ready: reading, compiling and running
// the bundle, with all ports built. Lambda's own start comes on top, and so does a smaller share of a processor.
// Held to the budget is the processor time of the least disturbed of several runs: other work on the machine
// takes from every run, and gives to none.

const RUNS = 11;

export const run = async (): Promise<Report> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-cold-start-"));
  try {
    const kinds = ["http", "workers", "schedules"] as const;
    const all = await Promise.all(kinds.map((kind) => bundleKind(kind, folder)));
    const weighed: WeighedBundle[] = [];
    for (const one of all.flat()) weighed.push({ ...one, ...(await measureImport(one.file)) });
    const inGroup = (group: LambdaGroup) =>
      weighed.filter(({ name }) => getLambdaGroup(name) === group);
    const [table, reach, files] = [inGroup("table"), inGroup("reach"), inGroup("files")];
    const [documents, tools, workers] = [
      inGroup("documents"),
      inGroup("tools"),
      inGroup("workers"),
    ];
    const http = [...table, ...documents, ...reach, ...files];
    const rows: ReportRow[] = [
      { what: "HTTP Lambdas, but for that of the tools", value: http.length, unit: "" },
      createRow("tableSize", getLargestKb(table)),
      createRow("tableImport", getSlowestMs(table)),
      createRow("documentsSize", getLargestKb(documents)),
      createRow("reachSize", getLargestKb(reach)),
      createRow("reachImport", getSlowestMs(reach)),
      createRow("filesSize", getLargestKb(files)),
      createRow("filesImport", getSlowestMs(files)),
      {
        what: "HTTP bundles, median import, processor time",
        value: computeMedian(http.map(({ cpuMs }) => cpuMs)),
        unit: "ms",
      },
      {
        what: "HTTP bundles, median import, elapsed",
        value: computeMedian(http.map(({ ms }) => ms)),
        unit: "ms",
      },
      createRow("toolsSize", getLargestKb(tools)),
      createRow("toolsImport", getSlowestMs(tools)),
      createRow("workersSize", getLargestKb(workers)),
    ];
    return { rows, tables: [buildTable(weighed)] };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

type Weighed = readonly WeighedBundle[];

const getLargestKb = (some: Weighed): number => Math.max(...some.map(({ bytes }) => bytes)) / 1000;

const getSlowestMs = (some: Weighed): number => Math.max(...some.map(({ cpuMs }) => cpuMs));

type Bundle = { readonly name: string; readonly file: string; readonly bytes: number };
type WeighedBundle = Bundle & { readonly ms: number; readonly cpuMs: number };

const bundleKind = async (kind: LambdaKind, folder: string): Promise<Bundle[]> => {
  const { metafile } = await build({
    ...BUNDLE,
    entryPoints: [...listEntries(kind)],
    outdir: join(folder, kind),
    outExtension: { ".js": ".mjs" },
    metafile: true,
  });
  return Object.entries(metafile.outputs).map(([file, { bytes }]) => ({
    name: `${kind}/${basename(file, ".mjs")}`,
    file: join(process.cwd(), file),
    bytes,
  }));
};

const SETTINGS = {
  KEY_PEPPER: "a pepper",
  CURSOR_SECRET: "a secret",
  ACTIVITY_KEY: "a key",
  SEALING_KEY: "a key",
  TABLE_NAME: "table",
  BUCKET_NAME: "bucket",
  QUEUE_URL_CHUNKS: "https://sqs.eu-central-1.amazonaws.com/1/chunks",
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "a secret key",
};

const measureImport = async (file: string): Promise<Pick<WeighedBundle, "cpuMs" | "ms">> => {
  const script = `
    const [start, before] = [performance.now(), process.cpuUsage()];
    await import(${JSON.stringify(file)});
    const { user, system } = process.cpuUsage(before);
    console.log(performance.now() - start, (user + system) / 1000);`;
  const took: (readonly [ms: number, cpuMs: number])[] = [];
  for (let n = 0; n < RUNS; n++) {
    const args = ["--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: SETTINGS });
    const [ms = 0, cpuMs = 0] = stdout.split(" ").map(Number);
    took.push([ms, cpuMs]);
  }
  return {
    ms: Math.min(...took.map(([ms]) => ms)),
    cpuMs: Math.min(...took.map(([, cpuMs]) => cpuMs)),
  };
};

const buildTable = (weighed: readonly WeighedBundle[]): ReportTable => ({
  title: `bundles, minified; import in a fresh process, least of ${RUNS}`,
  head: ["Lambda", "KB", "processor ms", "elapsed ms"],
  rows: weighed
    .toSorted((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes, cpuMs, ms }) => [
      name,
      ...[bytes / 1000, cpuMs, ms].map((value) => formatNumber(Math.round(value))),
    ]),
});
