import { ownerOf, type Payer } from "../access/payer.ts";
import { PLANS } from "../accounts/plans.ts";
import { dueAt } from "../due.ts";
import { Failure } from "../failure.ts";
import { inMs } from "../moments.ts";
import { credits } from "../money/credits.ts";
import type { Write } from "../table.ts";
import type { World } from "../world.ts";
import { excludedKeyOf } from "./excluded-rows.ts";
import type { InputBlob } from "./input-blob.ts";
import { type InputFacts, inputItem } from "./input-facts.ts";
import { type Job, jobItem, NOTHING_DONE } from "./items.ts";
import { JOB } from "./repair.ts";

/** What a job of many addresses is made of. */
export type NewJob = InputFacts & {
  readonly id: string;
  readonly kind: "batch" | "file";
  readonly payer: Payer;
  readonly reason: string;
  readonly name: string | null;
  readonly wants: NonNullable<Job["wants"]>;
  readonly callback: NonNullable<Job["callback"]> | null;
  readonly input: InputBlob;
  readonly chunkRows: number;
  readonly unique: number;
  readonly createdAt: Date;
  /** The Idempotency-Key that is to be free again when all of it was paid back. */
  readonly claim: Job["claim"];
  /** 1: its dispatch is somebody's business still. */
  readonly unsettled: 0 | 1;
};

/** Whoever accepted it has this long to send its chunks, before somebody else looks. */
const SEND_WITHIN_MS = 60_000;

/** The writes that make it known. They go with the debit. */
export const writesOfNewJob = (world: World, made: NewJob): Write[] => {
  const { id, kind, payer, reason, name, wants, callback, createdAt } = made;
  const { chunks, chunkRows, columns, emailColumn, isAscii, delimiter, excluded } = made;
  const { hasEmailCells, checksums, unsettled, claim } = made;
  const { key, version } = made.input;
  const job: Job = {
    ...NOTHING_DONE,
    id,
    owner: ownerOf(payer),
    account: payer.account,
    mode: payer.mode,
    kind,
    name,
    status: "processing",
    createdAt: createdAt.toISOString(),
    keptSeconds: PLANS[payer.plan].retentionDays * 86_400,
    held: credits(0),
    reason,
    total: made.unique,
    input: { key, version },
    chunkRows,
    wants,
    ...(callback && { callback }),
    unsettled,
    claim,
  };
  const due = dueAt(JOB, id, inMs(createdAt, SEND_WITHIN_MS), world.newId("txn"));
  return [
    { create: { ...jobItem(job), ...due } },
    {
      create: inputItem(
        id,
        { chunks, checksums, columns, emailColumn, isAscii, delimiter, hasEmailCells, excluded },
        createdAt,
      ),
    },
  ];
};

/** A job larger than the plan lets through is refused before it costs anything. */
export const assertWithinPlan = ({ plan }: Payer, addresses: number): void => {
  const { jobAddressesMax } = PLANS[plan];
  if (addresses > jobAddressesMax) throw tooManyFor(plan);
};

export const tooManyFor = (plan: Payer["plan"]): Failure => {
  const most = PLANS[plan].jobAddressesMax.toLocaleString("en");
  const what = `The plan ${plan} allows ${most} addresses in one job.`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", what);
};

export const inputKeyOf = (job: string): string => `inputs/${job}.jsonl`;

/** Of a job that came to nothing. */
export const removeInput = async ({ blobs }: Pick<World, "blobs">, job: string): Promise<void> => {
  const key = inputKeyOf(job);
  const keys = [key, excludedKeyOf(key)];
  await Promise.all(keys.map((key) => blobs.remove(key).catch(() => undefined)));
};

/** What nobody paid for leaves no list of addresses behind. Whatever may have been paid for keeps it. */
export const forgettingInput =
  (world: Pick<World, "blobs">, job: string) =>
  async (cause: unknown): Promise<never> => {
    if (cause instanceof Failure && cause.money === "nothing_charged")
      await removeInput(world, job);
    throw cause;
  };
