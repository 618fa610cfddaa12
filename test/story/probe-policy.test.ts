import { createProbeByPolicy } from "@mailproof/core/smtp-pool/probe-by-policy";
import { parseProbePolicy } from "@mailproof/mail/probe-policy";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { listMoves, thenConsistent } from "../ledger.ts";
import { whenFound, whenVerified } from "../send.ts";

/** An operator who excludes Google, and whose DNS says that every domain is Google's. */
const givenExcluded = async () => {
  const ctx = await given({ balance: 20 });
  const { engine } = ctx.world;
  const policy = parseProbePolicy("google=never");
  if (typeof policy === "string") throw new Error(policy);
  const hosts = [{ host: "aspmx.l.google.com", priority: 1, ips: ["192.0.2.1"] }];
  const excluded = {
    ...engine,
    findMailHosts: async () => ({ kind: "hosts", hosts, implicit: false, dnsQueries: [] }) as const,
    probe: createProbeByPolicy(engine.probe, policy),
  };
  return { ...ctx, world: { ...ctx.world, engine: excluded } };
};

test("an address at an excluded provider is unknown, says why, and costs nothing", async () => {
  const ctx = await givenExcluded();

  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });

  expect(data).toMatchObject({
    status: "unknown",
    reason: "probe_policy",
    provider: "google",
    verification: { not_known: ["smtp_check", "mailbox_exists", "catch_all"] },
    credits_used: 0,
    message:
      "This service does not ask the mail servers of this provider, so smtp_check, mailbox_exists and catch_all are not known. Nothing was charged.",
  });
  expect(listMoves(ctx)).toEqual(["hold 1", "release 1"]);
  await thenConsistent(ctx);
});

test("a search at a company of an excluded provider is unknown and costs nothing", async () => {
  const ctx = await givenExcluded();

  const { statusCode, data } = await whenFound(ctx.world, ctx.liveKey, {
    first_name: "Ann",
    last_name: "Lee",
    domain: "x.com",
  });

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ status: "unknown", credits_used: 0 });
  expect(listMoves(ctx)).toEqual(["hold 5", "release 5"]);
  await thenConsistent(ctx);
});
