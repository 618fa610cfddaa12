import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { chunkItem } from "@mailproof/core/jobs/chunks";
import { type InputRow, writeInput } from "@mailproof/core/jobs/input-blob";
import { inputItem } from "@mailproof/core/jobs/input-facts";
import { bucketOf, doneAt, type Job, jobItem, NOTHING_DONE } from "@mailproof/core/jobs/items";
import { inputKeyOf } from "@mailproof/core/jobs/new-job";
import { pageItems, type Row } from "@mailproof/core/jobs/results";
import { credits } from "@mailproof/core/money/credits";
import { CHUNK_ROWS } from "@mailproof/core/settings";
import { pretendEngine } from "@mailproof/core/verify/pretend";
import type { Verification } from "@mailproof/core/verify/result";
import { verify } from "@mailproof/core/verify/verify";
import { FAMILY, GIVEN } from "@mailproof/local/lab/names";
import { chanceOf } from "../../test/simulation/chance.ts";
import { mixedDomain } from "../list-generator.ts";

const JOB = "job_export";
const COLUMNS = ["customer", "company", "signed up"];
const COMPANIES = ["Acme", "Müller & Söhne", "Globex, Inc.", 'The "Anchor"', "Initech"];

/** A file of so many addresses that is all done, and a key to read it with. */
export const givenFinishedJob = async (
  world: AppWorld,
  rows: number,
): Promise<{ readonly job: string; readonly key: string }> => {
  const { account, liveKey } = await openAccount(world, {
    name: "bench",
    plan: "scale",
    opening: credits(0),
  });
  const facts = await writeInput(world.blobs, inputKeyOf(JOB), peopleIn(rows), CHUNK_ROWS.file);
  const buckets = await keepResults(world, rows);
  const { key, version } = facts.input;
  const job: Job = {
    ...NOTHING_DONE,
    ...doneAt(world.now()),
    ...buckets,
    id: JOB,
    owner: account,
    account,
    mode: "live",
    kind: "file",
    name: "customers.csv",
    status: "completed",
    createdAt: world.now().toISOString(),
    keptSeconds: KEPT_SECONDS,
    held: credits(0),
    reason: "",
    total: rows,
    processed: rows,
    input: { key, version },
  };
  await world.table.write({ create: jobItem(job) });
  const emailColumn = { name: "E-Mail", at: 1 };
  const list = { columns: COLUMNS, emailColumn, delimiter: ",", hasEmailCells: true };
  await world.table.write({
    create: inputItem(JOB, { ...facts, ...list, excluded: null }, world.now()),
  });
  return { job: JOB, key: liveKey };
};

const KEPT_SECONDS = 86_400;

async function* peopleIn(rows: number): AsyncGenerator<readonly InputRow[]> {
  for (let row = 2; row < rows + 2; row += CHUNK_ROWS.file) yield peopleFrom(row, rows);
}

/** A chunk of them. The header is the first row of the file. */
const peopleFrom = (from: number, rows: number): readonly InputRow[] =>
  Array.from({ length: Math.min(CHUNK_ROWS.file, rows + 2 - from) }, (_, at) => {
    const chance = chanceOf(from + at);
    const pick = (some: readonly string[]) => some[Math.floor(chance() * some.length)] ?? "";
    const email = `${pick(GIVEN)}.${pick(FAMILY)}${from + at}@${mixedDomain(chance)}`;
    const day = `2026-0${1 + (at % 9)}-1${at % 10}`;
    return [from + at, email, `C-${from + at}`, "", pick(COMPANIES), day];
  });

/** Of a hundred rows, as a list of customers comes out. */
const WORDS: readonly (readonly [word: string, percent: number])[] = [
  ["ann", 70],
  ["invalid", 10],
  ["catch_all", 9],
  ["unknown", 4],
  ["full", 3],
  ["info", 3],
  ["spam_trap", 1],
];

const keepResults = async (world: AppWorld, rows: number) => {
  const results = await resultsOf(world);
  const buckets = { valid: 0, invalid: 0, risky: 0, unknown: 0 };
  const expiresAt = Math.floor(world.now().getTime() / 1_000) + KEPT_SECONDS;
  for (let chunk = 0; chunk * CHUNK_ROWS.file < rows; chunk++) {
    const here = peopleFrom(2 + chunk * CHUNK_ROWS.file, rows).map(([row, email]): Row => {
      const result = results[(row * 37) % results.length] as Verification;
      buckets[bucketOf(result.status)]++;
      return { row, result: { ...result, email } };
    });
    const done = { job: JOB, chunk, outcome: "done", rows: here.length, passes: ["pass"] } as const;
    const items = [
      { ...chunkItem({ ...done, waiting: 0, from: 0, to: 0 }), expires_at: expiresAt },
      ...pageItems({ job: JOB, chunk, token: "pass" }, here, expiresAt),
    ];
    await world.table.transact(items.map((create) => ({ create })));
  }
  return buckets;
};

/** A hundred of them; each comes again with another address. */
const resultsOf = async (world: AppWorld): Promise<readonly Verification[]> => {
  const engine = pretendEngine(world);
  const asks = { deepVerify: true, includeAi: true, includeEvidence: false };
  const results: Verification[] = [];
  for (const [word, percent] of WORDS)
    for (let n = 0; n < percent; n++) {
      const tag = word === "ann" || word === "info" ? "" : `+${n}`;
      results.push(await verify(engine, `${word}${tag}@company-${n}.example.com`, asks));
    }
  return results;
};
