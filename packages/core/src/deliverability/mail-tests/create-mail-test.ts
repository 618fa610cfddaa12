import * as v from "valibot";
import { Failure } from "../../lib/failure.ts";
import { addMs, HOUR_MS, MINUTE_MS, toEpochSeconds } from "../../lib/time.ts";
import { payImmediately } from "../../money/begin-operation.ts";
import type { Halves } from "../../money/credits.ts";
import type { IdempotencyKey } from "../../money/idempotency-claims.ts";
import { getOwnerId, type Payer, toQueueGroup } from "../../money/payer.ts";
import { PLANS } from "../../money/plans.ts";
import { PRICES } from "../../money/prices.ts";
import { findRemainingCredits } from "../../money/remaining-credits.ts";
import type { World } from "../../ports/world.ts";
import type { OutboxWrite } from "../../runtime/commit.ts";
import { scheduleWork } from "../../runtime/leases.ts";
import { toMailTestAddress } from "./address.ts";
import { findMailTest, MAIL_TEST, type MailTest, toMailTestItem } from "./items.ts";
import { MAIL_TESTS_QUEUE } from "./queue.ts";

export const OPEN_MS = HOUR_MS;
/** The simulated mail of a test key arrives after 1 s. If its message is lost, the reconciler sends another one. */
const SIMULATED_AFTER_SECONDS = 1;
const RESEND_SIMULATED_AFTER_MS = MINUTE_MS;
/** An Idempotency-Key is stored for 30 days, and its test must stay readable as long. */
const RETENTION_DAYS_MIN = 31;

export type CreatedMailTest = {
  readonly test: MailTest;
  readonly price: Halves;
  readonly replayed: boolean;
  /** The balance after the charge; for a repeat, the current balance. Undefined when the balance is unknown. */
  readonly remaining: Halves | undefined;
};

/**
 * Charges for a test and creates its address, in one transaction. A test without a mail is refunded when its address expires
 * (mail-test-worker.ts).
 */
export const createMailTest = async (
  world: World,
  payer: Payer,
  idempotencyKey: IdempotencyKey | null,
): Promise<CreatedMailTest> => {
  const test = buildMailTest(world, payer);
  const order = {
    id: test.id,
    kind: MAIL_TEST,
    payer,
    reason: "mail_test",
    idempotencyKey,
    leaseMs: 0,
    lookAt: "listMailTests",
    statesRemaining: true,
  } as const;
  const paid = await payImmediately(world, order, async () => ({
    price: PRICES.mailTest,
    answer: { test: test.id },
    writes: (shard, countedIn) => [buildCreation(world, { ...test, shard, countedIn })],
  }));
  if (paid.kind === "paid")
    return { test, price: PRICES.mailTest, replayed: false, remaining: paid.left };
  // One transaction charges and stores the answer, so a request is never found unfinished.
  if (paid.kind !== "replayed") throw new Error("a request for a mail test was left unfinished");
  const { test: id } = v.parse(StoredAnswer, paid.answer);
  const first = await findMailTest(world.table, id).catch((cause: unknown) => {
    const what = "The mail test cannot be read right now.";
    throw new Failure("UNAVAILABLE", "retry_same_key", what, { cause });
  });
  if (!first) throw new Error(`the stored answer names mail test ${id}, which does not exist`);
  const remaining = await findRemainingCredits(world.table, payer);
  return { test: first, price: 0 as Halves, replayed: true, remaining };
};

const StoredAnswer = v.object({ test: v.string() });

const buildMailTest = (world: World, payer: Payer): MailTest => {
  const domain = payer.mode === "test" ? SANDBOX_DOMAIN : world.settings.mailDomain;
  if (domain === null)
    throw new Failure(
      "NOT_CONFIGURED",
      "nothing_charged",
      "This server receives no mail: its operator has not set MAIL_DOMAIN.",
      { isExpected: true },
    );
  const now = world.now();
  const token = Buffer.from(world.randomBytes(16)).toString("hex");
  const retentionDays = Math.max(PLANS[payer.plan].retentionDays, RETENTION_DAYS_MIN);
  return {
    id: `mlt_${token}`,
    owner: getOwnerId(payer),
    account: payer.account,
    mode: payer.mode,
    shard: 0,
    status: "waiting",
    address: toMailTestAddress(token, domain),
    createdAt: now.toISOString(),
    openUntil: addMs(now, OPEN_MS).toISOString(),
    sends: 0,
    expires_at: toEpochSeconds(now) + retentionDays * 86_400,
  };
};

const SANDBOX_DOMAIN = "mail.test";

const buildCreation = (
  world: World,
  test: MailTest,
): OutboxWrite | { create: OutboxWrite["create"] } => {
  const { id, owner, mode, createdAt, openUntil } = test;
  const dueAt =
    mode === "test" ? addMs(new Date(createdAt), RESEND_SIMULATED_AFTER_MS) : new Date(openUntil);
  const create = {
    ...toMailTestItem(test),
    ...scheduleWork(MAIL_TEST, id, dueAt, world.newId("txn")),
  };
  if (mode === "live") return { create };
  const message = {
    body: { test: id },
    delaySeconds: SIMULATED_AFTER_SECONDS,
    ...toQueueGroup(owner),
  };
  return { create, sends: { queue: MAIL_TESTS_QUEUE.name, message } };
};
