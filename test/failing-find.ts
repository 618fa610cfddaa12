import { bodyTooLarge } from "@mailproof/api/http/body";
import { broken, replyless, stopping, turn, unread, untouched } from "./breaking.ts";
import {
  type Asking,
  atTheDoor,
  BOTH_UNAVAILABLE,
  eitherWay,
  type Failing,
  overTheLedger,
} from "./failing.ts";
import type { House } from "./jobs.ts";
import { send, whenFound } from "./send.ts";
import { whenReconciled } from "./working.ts";

const ROUTE = "POST /v1/find";
const ann = { first_name: "Ann", last_name: "Lee", domain: "example.com" };

export const sought: Asking = (world, { liveKey }) => whenFound(world, liveKey, ann);

/** No search has an Idempotency-Key: what is the same either way is told once. */
const either: ReturnType<typeof eitherWay> = (...failing) =>
  eitherWay(sought)(...failing).slice(0, 1);

const givenStopped = async (house: House): Promise<void> => {
  void sought(stopping(house, 1).world, house);
  await turn();
};

const lostReply = (
  what: string,
  code: string,
  worldOf: (house: House) => House["world"],
  from: number,
): readonly Failing[] =>
  [true, false].map((written) => ({
    what: `no reply to ${what}, which was ${written ? "" : "not "}written`,
    code,
    when: (house) => sought(replyless(house, worldOf(house), from, written), house),
  }));

export const FIND: readonly Failing[] = [
  ...atTheDoor(ROUTE),
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenFound(world, liveKey, { ...ann, x: 1 }),
  },
  {
    what: "a provider's domain",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenFound(world, liveKey, { ...ann, domain: "gmail.com" }),
  },
  {
    what: "a body that is too large",
    code: "PAYLOAD_TOO_LARGE",
    when: ({ world, liveKey: key }) =>
      send(world, ROUTE, { key, readBody: () => Promise.reject(bodyTooLarge()) }),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    given: async ({ world, liveKey }) => {
      for (const domain of ["a.example", "b.example"])
        await whenFound(world, liveKey, { ...ann, domain });
    },
    when: (house) => sought(house.world, house),
  },
  {
    what: "the same search under way",
    code: "UNAVAILABLE",
    given: givenStopped,
    when: (house) => sought(house.world, house),
  },
  {
    what: "an abandoned search that cannot be looked up",
    code: "UNAVAILABLE",
    given: givenStopped,
    when: (house) => sought(unread(house, "OPERATION#"), house),
  },
  ...either("an earlier search that cannot be looked up", BOTH_UNAVAILABLE, (house) =>
    unread(house, "CLAIM#"),
  ),
  ...overTheLedger(either),
  ...lostReply("the payment", "UNAVAILABLE", untouched, 1),
  {
    what: "something that breaks on our side",
    code: "INTERNAL",
    when: (house) => sought(broken(house), house),
  },
  {
    what: "something that breaks under a test key",
    code: "INTERNAL",
    when: ({ world, testKey }) => whenFound(world, testKey, { ...ann, first_name: "Error" }),
  },
  ...lostReply("the refund", "INTERNAL", broken, 2),
  ...lostReply("the settlement", "UNAVAILABLE", untouched, 2),
  {
    what: "a search that was given back meanwhile",
    code: "UNAVAILABLE",
    when: async (house) => {
      const { world, goOn } = stopping(house, 1);
      const told = sought(world, house);
      await turn();
      house.later(40_000);
      await whenReconciled(house);
      goOn();
      return told;
    },
  },
];
