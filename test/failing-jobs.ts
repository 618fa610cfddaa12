import { bodyTooLarge } from "@mailproof/api/http/body";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { Failure, type FailureCode } from "@mailproof/core/failure";
import { FILE_BYTES_MAX } from "@mailproof/core/jobs/uploads";
import { credits } from "@mailproof/core/money/credits";
import { down, fated, goneAfter, turn, unread, untouched } from "./breaking.ts";
import {
  type Asking,
  atTheDoor,
  BOTH_INTERNAL,
  BOTH_UNAVAILABLE,
  BY_KEY,
  beforeTheLookUp,
  eitherWay,
  type Failing,
  lostReply,
  overTheLedger,
} from "./failing.ts";
import {
  anns,
  csvOf,
  givenUpload,
  processOf,
  whenBatched,
  whenFiled,
  whenFormSent,
} from "./jobs.ts";
import { send } from "./send.ts";

// Every list has one address, so every request costs one credit.

export const batched: Asking = (world, { liveKey }, idempotencyKey) =>
  whenBatched(world, liveKey, { emails: anns(1) }, idempotencyKey);

const eitherBatch = eitherWay(batched);

export const BATCH: readonly Failing[] = [
  ...atTheDoor("POST /v1/verify/batch"),
  ...beforeTheLookUp(batched),
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenBatched(world, liveKey, { emails: anns(1), x: 1 }),
  },
  {
    what: "a body that is too large",
    code: "PAYLOAD_TOO_LARGE",
    when: ({ world, liveKey: key }) =>
      send(world, "POST /v1/verify/batch", { key, readBody: () => Promise.reject(bodyTooLarge()) }),
  },
  {
    what: "an Idempotency-Key with a space",
    code: "INVALID_IDEMPOTENCY_KEY",
    when: (house) => batched(house.world, house, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: ({ world, liveKey }) => whenBatched(world, liveKey, { emails: ["bo@x.com"] }, "k"),
    when: (house) => batched(house.world, house, "k"),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    when: ({ world, liveKey }) => whenBatched(world, liveKey, { emails: anns(11) }, "k"),
  },
  {
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (house) => batched(unread(house, "CLAIM#"), house, "k"),
  },
  ...eitherBatch("a list that cannot be kept", BOTH_UNAVAILABLE, ({ world, blobs }) => ({
    ...world,
    blobs: { ...blobs, put: down },
  })),
  ...overTheLedger(eitherBatch),
  ...lostReply(eitherBatch)("the payment", BY_KEY, untouched, 1),
];

const FILE_ROUTE = "POST /v1/verify/file";
const keyIn = (account: string): string => `uploads/live/${account}/upl_1.bGlzdC5jc3Y.csv`;

/** What `given` uploaded. */
export const filed: Asking = (world, { liveKey, account }, idempotencyKey) =>
  whenFiled(world, liveKey, processOf(keyIn(account)), idempotencyKey);

const uploaded = (count: number): Required<Pick<Failing, "given">> => ({
  given: (house) => givenUpload(house, house.liveKey, csvOf(anns(count))),
});
const ONE = uploaded(1);
const eitherFile = eitherWay(filed, ONE);

/** Whoever accepted it is gone right after the debit. */
const abandoned: Pick<Failing, "given"> = {
  given: async (house) => {
    await ONE.given(house);
    void filed(goneAfter(house, 2).world, house, "k");
    for (let turns = 0; turns < 20; turns++) await turn();
  },
};

const upload: Asking = (world, { liveKey }) =>
  whenFiled(world, liveKey, { action: "get_upload_url", file_name: "list.csv" });
const formed: Asking = (world, { liveKey }, idempotencyKey) =>
  whenFormSent(
    world,
    liveKey,
    [{ name: "file", fileName: "list.csv", content: csvOf(anns(1)) }],
    idempotencyKey,
  );

export const FILE: readonly Failing[] = [
  ...atTheDoor(FILE_ROUTE),
  ...beforeTheLookUp(filed, ONE.given),
  ...beforeTheLookUp(formed).map((failing) => ({ ...failing, what: `${failing.what} of a form` })),
  ...["RATE_LIMITED", "UNAVAILABLE"].map(
    (code): Failing => ({
      what: `an upload of a repeated form that is refused with ${code}`,
      code,
      given: (house) => formed(house.world, house, "k"),
      when: (house) => {
        const refusal = new Failure(
          code as FailureCode,
          "nothing_charged",
          "There is no space for it.",
        );
        const put = () => Promise.reject(refusal);
        return formed({ ...house.world, blobs: { ...house.blobs, put } }, house, "k");
      },
      money: "retry_same_key",
      repeat: formed,
    }),
  ),
  {
    what: "a field that is not read",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) =>
      whenFiled(world, liveKey, processOf("x", { webhook_secret: "s".repeat(16) })),
  },
  {
    ...uploaded(0),
    what: "a file without an address",
    code: "INVALID_REQUEST",
    when: (house) => filed(house.world, house, "k"),
  },
  {
    what: "a body that is too large",
    code: "PAYLOAD_TOO_LARGE",
    when: ({ world, liveKey: key }) =>
      send(world, FILE_ROUTE, { key, readBody: () => Promise.reject(bodyTooLarge()) }),
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
    when: (house) => filed(house.world, house, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: async (house) => {
      await ONE.given(house);
      await whenFiled(
        house.world,
        house.liveKey,
        processOf(keyIn(house.account), { name: "A" }),
        "k",
      );
    },
    when: (house) => filed(house.world, house, "k"),
  },
  {
    ...uploaded(11),
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    when: (house) => filed(house.world, house, "k"),
  },
  {
    ...ONE,
    what: "another account's file",
    code: "FORBIDDEN",
    when: async ({ world, account }) => {
      const bo = await openAccount(world, { name: "Bo", plan: "pro", opening: credits(1) });
      return whenFiled(world, bo.liveKey, processOf(keyIn(account)), "k");
    },
  },
  {
    what: "a file that was never uploaded",
    code: "NOT_FOUND",
    when: (house) => filed(house.world, house, "k"),
  },
  {
    what: "a link that cannot be made",
    code: "UNAVAILABLE",
    when: (house) => upload({ ...house.world, blobs: { ...house.blobs, putLink: down } }, house),
  },
  ...eitherWay(formed, { repeat: formed })(
    "a form that cannot be kept",
    BOTH_UNAVAILABLE,
    ({ world, blobs }) => ({
      ...world,
      blobs: { ...blobs, put: down },
    }),
  ),
  {
    ...ONE,
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (house) => filed(unread(house, "CLAIM#"), house, "k"),
  },
  {
    ...abandoned,
    what: "an abandoned file that cannot be looked up",
    code: "UNAVAILABLE",
    when: (house) => filed(unread(house, "OPERATION#"), house, "k"),
  },
  ...eitherFile("a file that cannot be read", BOTH_UNAVAILABLE, ({ world, blobs }) => ({
    ...world,
    blobs: { ...blobs, get: down },
  })),
  ...eitherFile("a file that takes too long to read", BOTH_UNAVAILABLE, ({ world, blobs }) => ({
    ...world,
    blobs: { ...blobs, get: () => world.sleep(60_000).then(down) },
  })),
  ...overTheLedger(eitherFile),
  ...lostReply(eitherFile)("the payment", BY_KEY, untouched, 1),
  ...eitherFile("an input that cannot be found after the debit", BOTH_INTERNAL, (house) =>
    unread(house, "JOB#"),
  ),
  ...eitherFile("a queue that breaks", BOTH_INTERNAL, (house) => ({
    ...house.world,
    queue: { ...house.queue, sendMany: down },
  })),
  ...eitherFile("a queue that takes nothing", BOTH_INTERNAL, (house) =>
    fated(house, () => "refused"),
  ),
  ...lostReply(eitherFile)(
    "the refund",
    BOTH_INTERNAL,
    (house) => fated(house, () => "refused"),
    2,
  ),
  {
    what: "a test key's file of which nothing is queued",
    code: "INTERNAL",
    when: async (house) => {
      const fileKey = await givenUpload(house, house.testKey, csvOf(anns(1)));
      return whenFiled(
        fated(house, () => "refused"),
        house.testKey,
        processOf(fileKey),
      );
    },
  },
];
