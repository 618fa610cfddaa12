import { endpoints } from "@mailproof/api/endpoints";
import { bodyTooLarge } from "@mailproof/api/http/body";
import type { MoneyOutcome } from "@mailproof/core/failure";
import { describe, expect, test } from "vitest";
import { broken, down, overTable, slow, unread, untouched } from "../breaking.ts";
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
  WITHOUT_AND_WITH,
  whenOvertaken,
  whenStopped,
} from "../failing.ts";
import { CHECK, CHECK_READ, CHECKS, checked, HISTORY } from "../failing-checks.ts";
import { FIND, sought } from "../failing-find.ts";
import { BATCH, batched, FILE, filed } from "../failing-jobs.ts";
import { given } from "../given.ts";
import type { House } from "../jobs.ts";
import { creditsOf, thenInOrder } from "../ledger.ts";
import { send, whenVerified } from "../send.ts";
import { whenQuiet, whenWorked } from "../working.ts";

// Goal: the last sentence of every failure, which says what happened to the money, is true.
// Method: each way to fail is provoked, and the ledger is asked, once whatever was broken works again.

/** After this nobody believes in the one who stopped. */
const LEASE_MS = 25_000;
const ann = { email: "ann@x.com" };

const verified: Asking = (world, { liveKey }, idempotencyKey) =>
  whenVerified(world, liveKey, ann, idempotencyKey);

const either = eitherWay(verified);

const VERIFY: readonly Failing[] = [
  ...atTheDoor("POST /v1/verify"),
  ...beforeTheLookUp(verified),
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenVerified(world, liveKey, { ...ann, x: 1 }),
  },
  {
    what: "a body that is too large",
    code: "PAYLOAD_TOO_LARGE",
    when: ({ world, liveKey: key }) =>
      send(world, "POST /v1/verify", { key, readBody: () => Promise.reject(bodyTooLarge()) }),
  },
  {
    what: "an Idempotency-Key with a space",
    code: "INVALID_IDEMPOTENCY_KEY",
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: ({ world, liveKey }) => whenVerified(world, liveKey, { email: "bo@x.com" }, "k"),
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann, "k"),
  },
  {
    what: "a request that is under way",
    code: "REQUEST_IN_PROGRESS",
    given: (house) => whenStopped(house, verified, "k"),
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann, "k"),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    given: async ({ world, liveKey }) => {
      for (let n = 0; n < 10; n++) await whenVerified(world, liveKey, { email: `bo${n}@x.com` });
    },
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann),
  },
  {
    what: "an abandoned request that cannot be looked up",
    code: "UNAVAILABLE",
    given: (house) => whenStopped(house, verified, "k"),
    when: (house) => whenVerified(unread(house, "OPERATION#"), house.liveKey, ann, "k"),
  },
  {
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (house) => whenVerified(unread(house, "CLAIM#"), house.liveKey, ann, "k"),
  },
  ...either("results of the day that cannot be read", BOTH_UNAVAILABLE, (house) =>
    unread(house, "KNOWN#"),
  ),
  ...overTheLedger(either),
  ...lostReply(either)("the payment", BY_KEY, untouched, 1),
  ...either("something that breaks on our side", BOTH_INTERNAL, broken),
  {
    what: "something that breaks under a test key",
    code: "INTERNAL",
    when: ({ world, testKey }) => whenVerified(world, testKey, { email: "error@x.com" }),
  },
  ...lostReply(either)("the refund", BOTH_INTERNAL, broken, 2),
  ...lostReply(either)("the handing over to a job", BY_KEY, slow, 2),
  // Without a key the answer is told all the same: there is nothing that could be repeated.
  ...lostReply(either)("the settlement", BY_KEY, untouched, 2).filter(
    ({ code }) => code !== "INTERNAL",
  ),
  ...WITHOUT_AND_WITH.map(([how, key], at) => ({
    what: `work that somebody else went on with${how}`,
    code: BY_KEY[at] ?? "",
    when: (house: House) => whenOvertaken(house, verified, LEASE_MS, key),
  })),
  ...either("a queue that breaks", BOTH_INTERNAL, (house) => ({
    ...slow(house),
    queue: { ...house.queue, sendMany: down },
  })),
];

const meaningless = (route: string, field: string): Failing => ({
  what: `a meaningless ${field}`,
  code: "INVALID_REQUEST",
  when: ({ world, liveKey: key }) => send(world, route, { key, query: { [field]: "-1" } }),
});

const LIST = "GET /v1/jobs";
const JOBS: readonly Failing[] = [
  ...atTheDoor(LIST),
  ...["limit", "status", "offset"].map((field) => meaningless(LIST, field)),
  {
    what: "a list that cannot be read",
    code: "INTERNAL",
    when: (house) => send(overTable(house, { query: down }), LIST, { key: house.liveKey }),
  },
];

const ONE = "GET /v1/jobs/job_1";
const givenJob = async (house: House): Promise<void> => {
  await whenVerified(house.world, house.liveKey, { email: "slow@x.com" });
  await whenWorked(house);
};

const failingAtOne: readonly Failing[] = [
  ...atTheDoor(ONE),
  ...["limit", "next_key"].map((field) => meaningless(ONE, field)),
  {
    what: "a job that is not there",
    code: "NOT_FOUND",
    when: ({ world, liveKey: key }) => send(world, "GET /v1/jobs/job_9", { key }),
  },
  {
    what: "a job that cannot be read",
    code: "INTERNAL",
    when: (house) => send(unread(house, "JOB#"), ONE, { key: house.liveKey }),
  },
  {
    what: "results that cannot be read",
    code: "INTERNAL",
    when: (house) => send(overTable(house, { query: down }), ONE, { key: house.liveKey }),
  },
];
const JOB = failingAtOne.map((failing) => ({ ...failing, given: givenJob }));

/** What was taken for good by now, or is held for somebody. */
const paid = async (house: House): Promise<number> => {
  const { held, spent } = await creditsOf(house);
  return held + spent;
};

const thenAsBefore = async (house: House, paidBefore: number): Promise<void> => {
  expect(await paid(house)).toBe(paidBefore);
  await whenQuiet(house);
  expect(await paid(house)).toBe(paidBefore);
};

/** What a route sells: for how much, and how many of it a caller finds whose fate was not told. */
type Sold = {
  readonly repeat: Asking;
  readonly price: number;
  readonly found: (house: House) => Promise<number>;
};

type Truth = (
  house: House,
  before: { readonly paid: number; readonly refunded: number },
  sold: Sold,
) => Promise<void>;

const asFound: Truth = async (house, _before, { found, price }) => {
  await whenQuiet(house);
  expect(await paid(house)).toBe((await found(house)) * price);
};

const askedAgainForOnePrice: Truth = async (house, _before, { repeat, price }) => {
  house.later(60_000);
  expect(await repeat(house.world, house, "k")).not.toHaveProperty("error");
  await whenQuiet(house);
  expect(await paid(house)).toBe(price);
};

/** Each sentence, the word for it that programs read, and how the ledger shows that it was true. */
const SENTENCES: Readonly<Record<string, readonly [money: MoneyOutcome, truth: Truth]>> = {
  "Nothing was charged.": [
    "nothing_charged",
    async (house, before) => {
      expect((await creditsOf(house)).refunded).toBe(before.refunded);
      await thenAsBefore(house, before.paid);
    },
  ],
  "The charge was refunded.": [
    "refunded",
    async (house, before, { price }) => {
      expect((await creditsOf(house)).refunded).toBe(before.refunded + price);
      await thenAsBefore(house, before.paid);
    },
  ],
  "Retry with the same Idempotency-Key; it will not be charged twice.": [
    "retry_same_key",
    askedAgainForOnePrice,
  ],
  "The same search sent again within its two minutes will not be charged twice.": [
    "repeat_search",
    askedAgainForOnePrice,
  ],
  "Do not assume a refund; check GET /v1/jobs before sending this again.": ["unknown", asFound],
  "Do not assume a refund; check GET /v1/deliverability/checks before sending this again.": [
    "unknown",
    asFound,
  ],
};

/** Before its last sentence a message says nothing about the money: two sentences could contradict each other. */
const MONEY_WORDS = /charg|refund|paid|pay again|costs nothing/i;

const jobsFound = async ({ world, liveKey: key }: House): Promise<number> => {
  const { data } = await send(world, LIST, { key });
  return data.jobs.filter(({ status }: { status: string }) => status !== "failed").length;
};

const checksFound = async ({ world, liveKey: key }: House): Promise<number> =>
  (await send(world, HISTORY, { key })).data.total;

const job = (repeat: Asking): Sold => ({ repeat, price: 1, found: jobsFound });
/** No search says that nobody knows: so none is ever looked for. */
const search: Sold = { repeat: sought, price: 5, found: jobsFound };
const check: Sold = { repeat: checked, price: 10, found: checksFound };

describe.each([
  ["POST /v1/verify", VERIFY, job(verified)],
  ["POST /v1/verify/batch", BATCH, job(batched)],
  ["POST /v1/verify/file", FILE, job(filed)],
  ["POST /v1/find", FIND, search],
  ["GET /v1/jobs", JOBS, job(verified)],
  ["GET /v1/jobs/{id}", JOB, job(verified)],
  ["POST /v1/deliverability/check", CHECK, check],
  ["GET /v1/deliverability/checks", CHECKS, check],
  ["GET /v1/deliverability/checks/{id}", CHECK_READ, check],
] as const)("%s", (route, failings, sold) => {
  test.each(failings)("$what is $code, and what is said of the money is so", async (failing) => {
    const house = await given({ balance: 10 });
    await failing.given?.(house);
    const before = { paid: await paid(house), refunded: (await creditsOf(house)).refunded };

    const { error } = await failing.when(house);

    expect(error?.code).toBe(failing.code);
    const said = Object.keys(SENTENCES).filter((sentence) =>
      error.message.endsWith(` ${sentence}`),
    );
    expect(said, `${error.message}`).toHaveLength(1);
    const [money, truth] = SENTENCES[said[0] ?? ""] ?? [];
    expect(error.money).toBe(money);
    expect([money, undefined]).toContain(failing.money);
    expect(error.message.slice(0, -(said[0] ?? "").length)).not.toMatch(MONEY_WORDS);
    await truth?.(house, before, { ...sold, repeat: failing.repeat ?? sold.repeat });
    await thenInOrder(house);
  });

  test("every failure that it declares is provoked here", () => {
    const declared = endpoints.find((one) => one.route === route)?.errors ?? [];

    expect([...new Set(failings.map(({ code }) => code))].toSorted()).toEqual(declared.toSorted());
  });
});
