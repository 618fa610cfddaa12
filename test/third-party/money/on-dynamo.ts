import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { reconcile } from "@mailproof/core/background/reconciler";
import { getBalance } from "@mailproof/core/money/balance";
import { credits } from "@mailproof/core/money/credits";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import type { AwsTransport } from "@mailproof/functions/aws/requests";
import { whenWorked } from "../../app/drain-queues.ts";
import { givenWorld } from "../../app/given.ts";
import { BASE_URL, send } from "../../app/send.ts";
import { createEmulatedAws } from "../../aws/emulators.ts";
import { cancelWith, loseAfter, loseBefore } from "../../aws/faults.ts";
import { createTable } from "../../aws/resources.ts";
import { createFaultyTable } from "../../simulation/faults.ts";
import { memoryQueue } from "../../simulation/memory-queue.ts";
import { createRandom } from "../../simulation/random.ts";
import type { Chance } from "../../soak/truth.ts";
import { type Ask, addFromLedger, readBalance, runClient } from "./clients.ts";
import { createHistory, type History, type Jump, toSpan } from "./history.ts";

// A recording over DynamoDB's emulator: the whole app in this process, whose replies are lost and whose transactions
// meet others. A jump of the clock takes every operation for left by a crash, also those that are under way.

export type Size = { readonly operations: number; readonly seed: number };

const ACCOUNTS = 6;
const CLIENTS_PER_ACCOUNT = 3;
const OPENING = 5_000;
/** Every lease has expired then, the reconciler's own too. */
const JUMP_MS = 6 * 60_000;
/** So long is an operation at least under way when it is taken for left. */
const BETWEEN_JUMPS_MS = 1_500;
/** What began before a jump may be written after it. */
const WRITTEN_WITHIN_JUMPS = 3;
/** Of a hundred requests to DynamoDB, and of a hundred calls of the table. */
const RATE = { conflict: 6, lost: 4, call: 2 };
const SETTLING_JUMPS_MAX = 20;

/** The plan with a balance in one item has few requests a minute. */
const allow: AppWorld["rateLimit"] = async () => ({
  allowed: true,
  by: "key",
  limit: 1,
  remaining: 1,
  resetAt: 0,
});

type Faults = { areOn: boolean };

const breakLine =
  (chance: Chance, faults: Faults) =>
  (next: AwsTransport): AwsTransport =>
  (request, timeoutMs) => {
    const pass = () => next(request, timeoutMs);
    const isTransaction = request.headers["x-amz-target"]?.endsWith("TransactWriteItems");
    const drawn = faults.areOn ? chance() * 100 : 100;
    if (isTransaction && drawn < RATE.conflict) return cancelWith("TransactionConflict")(pass);
    if (drawn < RATE.conflict) return pass();
    if (drawn < RATE.conflict + RATE.lost / 2) return loseBefore(pass);
    return drawn < RATE.conflict + RATE.lost ? loseAfter(pass) : pass();
  };

export const recordOnDynamo = async ({ operations, seed }: Size): Promise<History> => {
  const chance = createRandom(seed);
  const faults: Faults = { areOn: false };
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  const jumps: Jump[] = [];
  const sleep = (ms: number) => setTimeout(ms);
  const between = breakLine(chance, faults);
  const aws = await createEmulatedAws({ now, between, random: chance, sleep });
  const sound = createDynamoTable(aws, await createTable(aws));
  const faulty = createFaultyTable(sound, () => (faults.areOn ? chance() : 1), RATE.call / 100);
  const queue = memoryQueue(now);
  const world: AppWorld = {
    ...givenWorld(seed).world,
    table: faulty,
    queue,
    rateLimit: allow,
    random: chance,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    now,
    sleep,
  };
  const payers = await Promise.all(
    Array.from({ length: ACCOUNTS }, async (_, at) => {
      const opening = { name: `Payer ${at}`, plan: "free", opening: credits(OPENING) } as const;
      const { account, liveKey } = await openAccount({ ...world, table: sound }, opening);
      return { account, live: liveKey };
    }),
  );
  const history = createHistory();
  for (const { account } of payers)
    history.add(account, 0, [0, 0], { kind: "open", amount: credits(OPENING) });
  const recording = {
    history,
    ask: createAsk(world),
    chance,
    serviceNow: () => now().getTime(),
  };
  const jump = async (): Promise<void> => {
    jumps.push({ service: recording.serviceNow(), at: history.now() });
    aheadMs += JUMP_MS;
    // What fails comes back: the reconciler's work with the next jump, a message by itself.
    await reconcile.run(world).catch(() => undefined);
    await whenWorked({ world, queue }).catch(() => undefined);
  };
  const isOver = () => history.count() >= operations;
  const jumpAgain = async (): Promise<void> => {
    while (!isOver()) {
      await setTimeout(BETWEEN_JUMPS_MS);
      await jump();
    }
  };
  const clients = payers.flatMap((payer) =>
    Array.from({ length: CLIENTS_PER_ACCOUNT }, (_, number) => ({
      ...recording,
      ...payer,
      number,
    })),
  );
  faults.areOn = true;
  await Promise.all([...clients.map((client) => runClient(client, isOver)), jumpAgain()]);

  faults.areOn = false;
  const isAnythingHeld = async () =>
    (await Promise.all(payers.map(({ account }) => getBalance(sound, account)))).some(
      ({ held }) => held > 0,
    );
  for (let at = 0; at < SETTLING_JUMPS_MAX && (await isAnythingHeld()); at++) await jump();
  jumps.push({ service: recording.serviceNow(), at: history.now() });
  for (const payer of payers) {
    const reader = { ...recording, ...payer, number: 0 };
    await readBalance(reader);
    await addFromLedger(reader, (time) => toSpan(jumps, time, WRITTEN_WITHIN_JUMPS));
  }
  return history;
};

const createAsk =
  (world: AppWorld): Ask =>
  async (key, { method, path, body, key: idempotencyKey }) => {
    const headers =
      idempotencyKey === undefined ? {} : { headers: { "idempotency-key": idempotencyKey } };
    const { pathname, searchParams } = new URL(path, BASE_URL);
    const { statusCode, data, error } = await send(world, `${method} ${pathname}`, {
      key,
      query: Object.fromEntries(searchParams),
      ...(body && { body }),
      ...headers,
    });
    return { status: statusCode, data, error };
  };
