import { bodyTooLarge } from "@mailproof/api/http/body";
import type { AppWorld } from "@mailproof/core/app-world";
import { down, overTable, unread, untouched } from "./breaking.ts";
import { whenChecked } from "./checks.ts";
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
  whenOvertaken,
  whenStopped,
} from "./failing.ts";
import type { House } from "./jobs.ts";
import { overNames } from "./names.ts";
import { send } from "./send.ts";

const ROUTE = "POST /v1/deliverability/check";
export const HISTORY = "GET /v1/deliverability/checks";
/** After this nobody believes in the one who stopped. */
const LEASE_MS = 20_000;
const site = { domain: "example.com" };

export const checked: Asking = (world, { liveKey }, idempotencyKey) =>
  whenChecked(world, liveKey, site, idempotencyKey);

const either = eitherWay(checked);

const silent = ({ world }: House): AppWorld => overNames(world, async () => ({ kind: "timeout" }));
const broken = ({ world }: House): AppWorld => overNames(world, down);

export const CHECK: readonly Failing[] = [
  ...atTheDoor(ROUTE),
  ...beforeTheLookUp(checked),
  {
    what: "a stored check that cannot be read at a repeat",
    code: "UNAVAILABLE",
    given: (house) => checked(house.world, house, "k"),
    when: (house) => checked(unread(house, "CHECK#"), house, "k"),
    money: "retry_same_key",
  },
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenChecked(world, liveKey, { ...site, x: 1 }),
  },
  {
    what: "a body that is too large",
    code: "PAYLOAD_TOO_LARGE",
    when: ({ world, liveKey: key }) =>
      send(world, ROUTE, { key, readBody: () => Promise.reject(bodyTooLarge()) }),
  },
  {
    what: "an Idempotency-Key with a space",
    code: "INVALID_IDEMPOTENCY_KEY",
    when: (house) => checked(house.world, house, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: ({ world, liveKey }) => whenChecked(world, liveKey, { domain: "example.org" }, "k"),
    when: (house) => checked(house.world, house, "k"),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    given: ({ world, liveKey }) => whenChecked(world, liveKey, { domain: "example.org" }),
    when: (house) => checked(house.world, house),
  },
  {
    what: "an abandoned request that cannot be looked up",
    code: "UNAVAILABLE",
    given: (house) => whenStopped(house, checked, "k"),
    when: (house) => checked(unread(house, "OPERATION#"), house, "k"),
  },
  {
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (house) => checked(unread(house, "CLAIM#"), house, "k"),
  },
  {
    what: "a stored check that cannot be read",
    code: "UNAVAILABLE",
    given: (house) => checked(house.world, house, "k"),
    when: (house) => checked(unread(house, "CHECK#"), house, "k"),
  },
  ...either("checks of the day that cannot be read", BOTH_UNAVAILABLE, (house) =>
    unread(house, "LATEST#"),
  ),
  ...overTheLedger(either),
  ...lostReply(either)("the payment", BY_KEY, untouched, 1),
  ...either("a domain that never answers", BOTH_UNAVAILABLE, silent),
  ...either("something that breaks on our side", BOTH_INTERNAL, broken),
  {
    what: "something that breaks under a test key",
    code: "INTERNAL",
    when: ({ world, testKey }) => whenChecked(world, testKey, { domain: "error.com" }),
  },
  ...lostReply(either)("the refund", BOTH_INTERNAL, broken, 2),
  // Without a key the answer is told all the same: there is nothing that could be repeated.
  ...lostReply(either)("the settlement", BY_KEY, untouched, 2).filter(
    ({ code }) => code !== "INTERNAL",
  ),
  {
    what: "work that somebody else went on with, without a key",
    code: "INTERNAL",
    when: (house: House) => whenOvertaken(house, checked, LEASE_MS),
  },
  ...either("an outcome that cannot be compared with the one before", BY_KEY, (house) => {
    let looks = 0;
    return overTable(house, {
      get: (key) => (key.pk.startsWith("LATEST#") && looks++ > 0 ? down() : house.table.get(key)),
    });
  }),
];

export const CHECKS: readonly Failing[] = [
  ...atTheDoor(HISTORY),
  {
    what: "a meaningless limit",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey: key }) => send(world, HISTORY, { key, query: { limit: "-1" } }),
  },
  {
    what: "a history that cannot be read",
    code: "INTERNAL",
    when: (house) => send(overTable(house, { query: down }), HISTORY, { key: house.liveKey }),
  },
];

const ONE = `${HISTORY}/3f2c1b1e-0000-4000-8000-000000000000`;

export const CHECK_READ: readonly Failing[] = [
  ...atTheDoor(ONE),
  {
    what: "an unknown parameter",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey: key }) => send(world, ONE, { key, query: { x: "1" } }),
  },
  {
    what: "a check that is not there",
    code: "NOT_FOUND",
    when: ({ world, liveKey: key }) => send(world, ONE, { key }),
  },
  {
    what: "a check that cannot be read",
    code: "INTERNAL",
    when: (house) => send(unread(house, "CHECK#"), ONE, { key: house.liveKey }),
  },
];
