import type { AppWorld } from "@mailproof/core/app-world";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { getWorld, rejectDown, withTable, withUnreadable } from "../app/faulty-worlds.ts";
import { send, whenChecked } from "../app/send.ts";
import type { TestContext } from "../things/jobs.ts";
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
  whenOvertaken,
  whenStopped,
} from "./failing.ts";

const ROUTE = "POST /v1/deliverability/check";
export const HISTORY = "GET /v1/deliverability/checks";
/** After this another process may take the work of one that stopped. */
const LEASE_MS = 20_000;
const site = { domain: "example.com" };

export const requestCheck: TestRequest = (world, { liveKey }, idempotencyKey) =>
  whenChecked(world, liveKey, site, idempotencyKey);

const either = createBothWays(requestCheck);

const withSilentDns = ({ world }: TestContext): AppWorld =>
  withDnsLookups(world, async () => ({ kind: "timeout" }));
const broken = ({ world }: TestContext): AppWorld => withDnsLookups(world, rejectDown);

export const CHECK: readonly Failing[] = [
  ...listRequestFailures(ROUTE),
  createTooLarge(ROUTE),
  ...beforeTheLookUp(requestCheck),
  {
    what: "a stored check that cannot be read at a repeat",
    code: "UNAVAILABLE",
    given: (ctx) => requestCheck(ctx.world, ctx, "k"),
    when: (ctx) => requestCheck(withUnreadable(ctx, "CHECK#"), ctx, "k"),
    money: "retry_same_key",
  },
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenChecked(world, liveKey, { ...site, x: 1 }),
  },
  {
    what: "an Idempotency-Key with a space",
    code: "INVALID_IDEMPOTENCY_KEY",
    when: (ctx) => requestCheck(ctx.world, ctx, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: ({ world, liveKey }) => whenChecked(world, liveKey, { domain: "example.org" }, "k"),
    when: (ctx) => requestCheck(ctx.world, ctx, "k"),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    given: ({ world, liveKey }) => whenChecked(world, liveKey, { domain: "example.org" }),
    when: (ctx) => requestCheck(ctx.world, ctx),
  },
  {
    what: "an abandoned request that cannot be looked up",
    code: "UNAVAILABLE",
    given: (ctx) => whenStopped(ctx, requestCheck, "k"),
    when: (ctx) => requestCheck(withUnreadable(ctx, "OPERATION#"), ctx, "k"),
  },
  {
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (ctx) => requestCheck(withUnreadable(ctx, "CLAIM#"), ctx, "k"),
  },
  {
    what: "a stored check that cannot be read",
    code: "UNAVAILABLE",
    given: (ctx) => requestCheck(ctx.world, ctx, "k"),
    when: (ctx) => requestCheck(withUnreadable(ctx, "CHECK#"), ctx, "k"),
  },
  ...either("checks of the day that cannot be read", BOTH_UNAVAILABLE, (ctx) =>
    withUnreadable(ctx, "LATEST#"),
  ),
  ...listLedgerFailures(either),
  ...createLostReply(either)("the payment", BY_KEY, getWorld, 1),
  ...either("a domain that never answers", BOTH_UNAVAILABLE, withSilentDns),
  ...either("something that breaks on our side", BOTH_INTERNAL, broken),
  {
    what: "a failure of ours under a test key",
    code: "INTERNAL",
    when: ({ world, testKey }) => whenChecked(world, testKey, { domain: "error.com" }),
  },
  ...createLostReply(either)("the refund", BOTH_INTERNAL, broken, 2),
  // Without a key the answer is given all the same: there is nothing that could be repeated.
  ...createLostReply(either)("the settlement", BY_KEY, getWorld, 2).filter(
    ({ code }) => code !== "INTERNAL",
  ),
  {
    what: "a check that another process continued without a key",
    code: "INTERNAL",
    when: (ctx: TestContext) => whenOvertaken(ctx, requestCheck, LEASE_MS),
  },
  ...either("an outcome that cannot be compared with the one before", BY_KEY, (ctx) => {
    let looks = 0;
    return withTable(ctx, {
      get: (key) =>
        key.pk.startsWith("LATEST#") && looks++ > 0 ? rejectDown() : ctx.table.get(key),
    });
  }),
];

export const CHECKS: readonly Failing[] = [
  ...listRequestFailures(HISTORY),
  {
    what: "a malformed limit",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey: key }) => send(world, HISTORY, { key, query: { limit: "-1" } }),
  },
  {
    what: "a history that cannot be read",
    code: "INTERNAL",
    when: (ctx) => send(withTable(ctx, { query: rejectDown }), HISTORY, { key: ctx.liveKey }),
  },
];

const ONE = `${HISTORY}/3f2c1b1e-0000-4000-8000-000000000000`;

export const CHECK_READ: readonly Failing[] = [
  ...listRequestFailures(ONE),
  {
    what: "an unknown parameter",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey: key }) => send(world, ONE, { key, query: { x: "1" } }),
  },
  {
    what: "an unknown check",
    code: "NOT_FOUND",
    when: ({ world, liveKey: key }) => send(world, ONE, { key }),
  },
  {
    what: "a check that cannot be read",
    code: "INTERNAL",
    when: (ctx) => send(withUnreadable(ctx, "CHECK#"), ONE, { key: ctx.liveKey }),
  },
];
