import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { type InputRow, writeInput } from "@mailproof/core/intake/input-blob";
import { toInputBlobKey } from "@mailproof/core/lists/new-job";
import { credits } from "@mailproof/core/money/credits";
import { CHUNK_ROWS } from "@mailproof/core/ports/settings";
import { toChunkItem } from "@mailproof/core/rows/chunks";
import { toInputItem } from "@mailproof/core/rows/input-metadata";
import {
  type Job,
  NO_PROGRESS,
  toBucket,
  toDoneFields,
  toJobItem,
} from "@mailproof/core/rows/items";
import { buildSummaryWrites } from "@mailproof/core/rows/result-summary";
import { toPageItems, type VerifiedRow } from "@mailproof/core/rows/results";
import { buildIndexWrites } from "@mailproof/core/rows/row-index";
import type { Verification } from "@mailproof/core/verify/result";
import { createSandboxEngine } from "@mailproof/core/verify/sandbox";
import { verify } from "@mailproof/core/verify/verify";
import { LAB_FAMILY_NAMES, LAB_GIVEN_NAMES } from "@mailproof/lab/person-names";
import { createRandom } from "../../test/simulation/random.ts";
import { pickDomain } from "../list-generator.ts";

const JOB = "job_export";
const COLUMNS = ["customer", "company", "signed up"];
const COMPANIES = ["Acme", "Müller & Söhne", "Globex, Inc.", 'The "Anchor"', "Initech"];

/** A file of so many addresses that is all done, and a key to read it with. */
export const createFinishedJob = async (
  world: AppWorld,
  rows: number,
): Promise<{ readonly job: string; readonly key: string }> => {
  const { account, liveKey } = await openAccount(world, {
    name: "bench",
    plan: "scale",
    opening: credits(100_000),
  });
  const written = await writeInput(
    world.blobs,
    toInputBlobKey(JOB),
    listPeople(rows),
    CHUNK_ROWS.file,
  );
  const buckets = await storeResults(world, rows);
  const { key, version } = written.input;
  const job: Job = {
    ...NO_PROGRESS,
    ...toDoneFields(world.now()),
    domains: [],
    ...buckets,
    id: JOB,
    owner: account,
    account,
    mode: "live",
    kind: "file",
    name: "customers.csv",
    status: "completed",
    createdAt: world.now().toISOString(),
    retentionSeconds: RETENTION_SECONDS,
    held: credits(0),
    shard: 0,
    reason: "verify_file",
    total: rows,
    processed: rows,
    input: { key, version },
    chunkRows: CHUNK_ROWS.file,
  };
  await world.table.write({ create: toJobItem(job) });
  const emailColumn = { name: "E-Mail", at: 1 };
  const list = { columns: COLUMNS, emailColumn, delimiter: "," };
  await world.table.write({
    create: toInputItem(JOB, { ...written, ...list, excluded: null }, world.now()),
  });
  return { job: JOB, key: liveKey };
};

const DOMAINS = ["gmail.com", "yahoo.com", "outlook.com", "hotmail.com"];
const RETENTION_SECONDS = 86_400;

async function* listPeople(rows: number): AsyncGenerator<readonly InputRow[]> {
  for (let row = 2; row < rows + 2; row += CHUNK_ROWS.file) yield listPeopleFrom(row, rows);
}

/** A chunk of them. The header is the first row of the file. */
const listPeopleFrom = (from: number, rows: number): readonly InputRow[] =>
  Array.from({ length: Math.min(CHUNK_ROWS.file, rows + 2 - from) }, (_, at) => {
    const chance = createRandom(from + at);
    const pick = (some: readonly string[]) => some[Math.floor(chance() * some.length)] ?? "";
    const email = `${pick(LAB_GIVEN_NAMES)}.${pick(LAB_FAMILY_NAMES)}${from + at}@${pickDomain(chance)}`;
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

const storeResults = async (world: AppWorld, rows: number) => {
  const results = await createResults(world);
  const buckets = { valid: 0, invalid: 0, risky: 0, unknown: 0 };
  const expiresAt = Math.floor(world.now().getTime() / 1_000) + RETENTION_SECONDS;
  for (let chunk = 0; chunk * CHUNK_ROWS.file < rows; chunk++) {
    const here = listPeopleFrom(2 + chunk * CHUNK_ROWS.file, rows).map(
      ([row, email]): VerifiedRow => {
        const result = results[(row * 37) % results.length] as Verification;
        buckets[toBucket(result.status)]++;
        return { row, result: { ...result, email } };
      },
    );
    const done = { job: JOB, chunk, outcome: "done", rows: here.length, passes: ["pass"] } as const;
    const items = [
      {
        ...toChunkItem({ ...done, waiting: 0, from: 0, to: 0, checksum: 0, again: 0 }),
        expires_at: expiresAt,
      },
      ...toPageItems({ job: JOB, chunk, token: "pass" }, here, expiresAt),
    ];
    const job = { id: JOB, domains: DOMAINS };
    await world.table.transact([
      ...items.map((create) => ({ create })),
      ...buildSummaryWrites(job, here, expiresAt),
      ...buildIndexWrites({ job, chunk, token: "pass", pass: 0 }, here, expiresAt),
    ]);
  }
  return buckets;
};

/** A hundred of them; each comes again with another address. */
const createResults = async (world: AppWorld): Promise<readonly Verification[]> => {
  const engine = createSandboxEngine(world);
  const options = { deepVerify: true, includeAi: true, includeEvidence: false };
  const results: Verification[] = [];
  for (const [word, percent] of WORDS)
    for (let n = 0; n < percent; n++) {
      const tag = word === "ann" || word === "info" ? "" : `+${n}`;
      results.push(await verify(engine, `${word}${tag}@company-${n}.example.com`, options));
    }
  return results;
};
