import { openAccount } from "@mailproof/core/accounts/accounts";
import { FILE_BYTES_MAX } from "@mailproof/core/intake/uploads";
import { Failure, type FailureCode } from "@mailproof/core/lib/failure";
import { credits } from "@mailproof/core/money/credits";
import { whenWorked } from "../app/drain-queues.ts";
import {
  createProcessGoneAfter,
  getWorld,
  rejectDown,
  runTurn,
  withMessageFates,
  withUnreadable,
} from "../app/faulty-worlds.ts";
import { send } from "../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenUpload,
  whenBatched,
  whenFiled,
  whenFormSent,
} from "../things/jobs.ts";
import {
  BOTH_INTERNAL,
  BOTH_UNAVAILABLE,
  BY_KEY,
  beforeTheLookUp,
  createBothWays,
  createLostReply,
  createTooLarge,
  type Failing,
  listLedgerFailures,
  listRequestFailures,
  type TestRequest,
} from "./failing.ts";

// Every list has one address, so every request costs one credit.

export const requestBatch: TestRequest = (world, { liveKey }, idempotencyKey) =>
  whenBatched(world, liveKey, { emails: createEmails(1) }, idempotencyKey);

const eitherBatch = createBothWays(requestBatch);

/** A repeat of the request whose job has been deleted. */
const createDeleted = (ask: TestRequest, given: Failing["given"] = async () => {}): Failing => ({
  what: "a job that was deleted",
  code: "RESULT_DELETED",
  given: async (ctx) => {
    await given(ctx);
    const { data } = await ask(ctx.world, ctx, "k");
    await whenWorked(ctx);
    await send(ctx.world, `DELETE /v1/jobs/${data.job_id}`, { key: ctx.liveKey });
  },
  when: (ctx) => ask(ctx.world, ctx, "k"),
});

export const BATCH: readonly Failing[] = [
  createDeleted(requestBatch),
  ...listRequestFailures("POST /v1/verify/batch"),
  createTooLarge("POST /v1/verify/batch"),
  ...beforeTheLookUp(requestBatch),
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenBatched(world, liveKey, { emails: createEmails(1), x: 1 }),
  },
  {
    what: "an Idempotency-Key with a space",
    code: "INVALID_IDEMPOTENCY_KEY",
    when: (ctx) => requestBatch(ctx.world, ctx, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: ({ world, liveKey }) => whenBatched(world, liveKey, { emails: ["bo@x.com"] }, "k"),
    when: (ctx) => requestBatch(ctx.world, ctx, "k"),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    when: ({ world, liveKey }) => whenBatched(world, liveKey, { emails: createEmails(11) }, "k"),
  },
  {
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (ctx) => requestBatch(withUnreadable(ctx, "CLAIM#"), ctx, "k"),
  },
  ...eitherBatch("a list that cannot be kept", BOTH_UNAVAILABLE, ({ world, blobs }) => ({
    ...world,
    blobs: { ...blobs, put: rejectDown },
  })),
  ...listLedgerFailures(eitherBatch),
  ...createLostReply(eitherBatch)("the payment", BY_KEY, getWorld, 1),
];

const FILE_ROUTE = "POST /v1/verify/file";
const findKey = (account: string): string => `uploads/live/${account}/upl_1.bGlzdC5jc3Y.csv`;

/** What `given` uploaded. */
export const requestFile: TestRequest = (world, { liveKey, account }, idempotencyKey) =>
  whenFiled(world, liveKey, createProcessRequest(findKey(account)), idempotencyKey);

const createUpload = (count: number): Required<Pick<Failing, "given">> => ({
  given: (ctx) => givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(count))),
});
const ONE = createUpload(1);
const eitherFile = createBothWays(requestFile, ONE);

/** The process that accepted it is gone right after the debit. */
const abandoned: Pick<Failing, "given"> = {
  given: async (ctx) => {
    await ONE.given(ctx);
    void requestFile(createProcessGoneAfter(ctx, 3).world, ctx, "k");
    for (let turns = 0; turns < 20; turns++) await runTurn();
  },
};

const upload: TestRequest = (world, { liveKey }) =>
  whenFiled(world, liveKey, { action: "get_upload_url", file_name: "list.csv" });
const requestForm: TestRequest = (world, { liveKey }, idempotencyKey) =>
  whenFormSent(
    world,
    liveKey,
    [{ name: "file", fileName: "list.csv", content: formatCsv(createEmails(1)) }],
    idempotencyKey,
  );

export const FILE: readonly Failing[] = [
  ...listRequestFailures(FILE_ROUTE),
  createTooLarge(FILE_ROUTE),
  createDeleted(requestFile, ONE.given),
  ...beforeTheLookUp(requestFile, ONE.given),
  ...beforeTheLookUp(requestForm).map((failing) => ({
    ...failing,
    what: `${failing.what} of a form`,
  })),
  ...["RATE_LIMITED", "UNAVAILABLE"].map(
    (code): Failing => ({
      what: `an upload of a repeated form that is refused with ${code}`,
      code,
      given: (ctx) => requestForm(ctx.world, ctx, "k"),
      when: (ctx) => {
        const refusal = new Failure(
          code as FailureCode,
          "nothing_charged",
          "There is no space for it.",
        );
        const put = () => Promise.reject(refusal);
        return requestForm({ ...ctx.world, blobs: { ...ctx.blobs, put } }, ctx, "k");
      },
      money: "retry_same_key",
      repeat: requestForm,
    }),
  ),
  {
    what: "a field that the action does not read",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) =>
      whenFiled(world, liveKey, createProcessRequest("x", { webhook_secret: "s".repeat(16) })),
  },
  {
    ...createUpload(0),
    what: "a file without an address",
    code: "INVALID_REQUEST",
    when: (ctx) => requestFile(ctx.world, ctx, "k"),
  },
  ...eitherFile(
    "a file that is too large",
    ["PAYLOAD_TOO_LARGE", "PAYLOAD_TOO_LARGE"],
    ({ world, blobs }) => ({
      ...world,
      blobs: { ...blobs, head: async () => ({ version: "v1", bytes: FILE_BYTES_MAX + 1 }) },
    }),
  ),
  {
    what: "an Idempotency-Key with a space",
    code: "INVALID_IDEMPOTENCY_KEY",
    when: (ctx) => requestFile(ctx.world, ctx, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: async (ctx) => {
      await ONE.given(ctx);
      await whenFiled(
        ctx.world,
        ctx.liveKey,
        createProcessRequest(findKey(ctx.account), { name: "A" }),
        "k",
      );
    },
    when: (ctx) => requestFile(ctx.world, ctx, "k"),
  },
  {
    what: "an earlier list that has not ended",
    code: "JOB_OPEN",
    given: async (ctx) => {
      await ONE.given(ctx);
      await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(findKey(ctx.account)));
    },
    when: async ({ world, account, liveKey: key }) => {
      const { data } = await send(world, "GET /v1/jobs", { key });
      const continued = { continues: data.jobs[0].job_id };
      return whenFiled(world, key, createProcessRequest(findKey(account), continued), "k");
    },
  },
  {
    ...createUpload(11),
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    when: (ctx) => requestFile(ctx.world, ctx, "k"),
  },
  {
    ...ONE,
    what: "another account's file",
    code: "FORBIDDEN",
    when: async ({ world, account }) => {
      const bo = await openAccount(world, { name: "Bo", plan: "pro", opening: credits(1) });
      return whenFiled(world, bo.liveKey, createProcessRequest(findKey(account)), "k");
    },
  },
  {
    what: "a file that was never uploaded",
    code: "NOT_FOUND",
    when: (ctx) => requestFile(ctx.world, ctx, "k"),
  },
  {
    what: "an upload link that cannot be signed",
    code: "UNAVAILABLE",
    when: (ctx) => upload({ ...ctx.world, blobs: { ...ctx.blobs, presignPut: rejectDown } }, ctx),
  },
  ...createBothWays(requestForm, { repeat: requestForm })(
    "a form that cannot be kept",
    BOTH_UNAVAILABLE,
    ({ world, blobs }) => ({
      ...world,
      blobs: { ...blobs, put: rejectDown },
    }),
  ),
  {
    ...ONE,
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (ctx) => requestFile(withUnreadable(ctx, "CLAIM#"), ctx, "k"),
  },
  {
    ...abandoned,
    what: "an abandoned file that cannot be looked up",
    code: "UNAVAILABLE",
    when: (ctx) => requestFile(withUnreadable(ctx, "OPERATION#"), ctx, "k"),
  },
  ...eitherFile("a file that cannot be read", BOTH_UNAVAILABLE, ({ world, blobs }) => ({
    ...world,
    blobs: { ...blobs, get: rejectDown },
  })),
  ...eitherFile("a file that takes too long to read", BOTH_UNAVAILABLE, ({ world, blobs }) => ({
    ...world,
    blobs: { ...blobs, get: () => world.sleep(60_000).then(rejectDown) },
  })),
  ...listLedgerFailures(eitherFile),
  ...createLostReply(eitherFile)("the payment", BY_KEY, getWorld, 1),
  ...eitherFile("an input that cannot be found after the debit", BOTH_INTERNAL, (ctx) =>
    withUnreadable(ctx, "JOB#"),
  ),
  ...eitherFile("a queue that breaks", BOTH_INTERNAL, (ctx) => ({
    ...ctx.world,
    queue: { ...ctx.queue, sendMany: rejectDown },
  })),
  ...eitherFile("a queue that takes nothing", BOTH_INTERNAL, (ctx) =>
    withMessageFates(ctx, () => "refused"),
  ),
  ...createLostReply(eitherFile)(
    "the refund",
    BOTH_INTERNAL,
    (ctx) => withMessageFates(ctx, () => "refused"),
    2,
  ),
  {
    what: "a test key's file without any queued chunk",
    code: "INTERNAL",
    when: async (ctx) => {
      const fileKey = await givenUpload(ctx, ctx.testKey, formatCsv(createEmails(1)));
      return whenFiled(
        withMessageFates(ctx, () => "refused"),
        ctx.testKey,
        createProcessRequest(fileKey),
      );
    },
  },
];
