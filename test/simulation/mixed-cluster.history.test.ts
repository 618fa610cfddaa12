import type { Table, Write } from "@mailproof/core/ports/table";
import { getItemKey } from "@mailproof/core/ports/writes";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import { PROVIDER_CONNECTIONS } from "@mailproof/mail/mail-providers";
import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { expect, test } from "vitest";
import { listGrants } from "../../infra/iam.ts";
import { givenWorld } from "../app/given.ts";
import {
  CURRENT,
  findReleaseAbsence,
  loadLastRelease,
  type Release,
  renameStored,
} from "../app/release.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { simulateCluster } from "./cluster.ts";
import type { SimulatedWorld } from "./process.ts";

// Goal: the limits of a mail provider hold while processes of two releases share its slots, and all rows get their results.

const GMAIL = toSlotKey({
  host: "gmail-smtp-in.l.google.com",
  priority: 10,
  ips: ["198.18.0.1"],
});
const REFUSAL: SessionOutcome = {
  host: GMAIL.host,
  ip: "198.18.0.1",
  result: {
    recipients: [],
    unknownRecipients: [],
    remaining: [],
    catchAllProbes: [],
    closedBy: "421",
    ending: null,
    tls: false,
    extensions: [],
  },
  transcript: [],
  attempts: [],
};

/** The one has all slots. Each call of `ours` is a process of the other. */
const givenTaken = async ([one, other]: readonly [Release, Release]) => {
  const { world } = givenWorld();
  const theirs = one.createSharedSlots(world);
  const taken = [];
  for (let n = 0; n < PROVIDER_CONNECTIONS; n++) taken.push(await theirs.acquire(GMAIL));
  const [first] = taken;
  if (first?.kind !== "acquired") throw new Error("no slot is free");
  return { first: first.slot, ours: () => other.createSharedSlots(world) };
};

const recordWrites =
  (written: Set<string>) =>
  (ctx: SimulatedWorld): SimulatedWorld => {
    const record = (writes: readonly Write[]) => {
      for (const write of writes) written.add(getItemKey(write).pk);
    };
    const { table } = ctx;
    const write: Table["write"] = (one) => {
      record([one]);
      return table.write(one);
    };
    const transact: Table["transact"] = (writes) => {
      record(writes);
      return table.transact(writes);
    };
    return { ...ctx, table: { ...table, write, transact } };
  };

const isOf = (pk: string, pattern: string): boolean =>
  pattern.endsWith("*") ? pk.startsWith(pattern.slice(0, -1)) : pk === pattern;

describeUnless(findReleaseAbsence(), "today's code beside the last release", () => {
  const pairs = [
    ["today's code", (last: Release) => [last, CURRENT] as const],
    ["the last release", (last: Release) => [CURRENT, last] as const],
  ] as const;

  test.each(pairs)(
    "a process of %s acquires no slot that the other release holds, and acquires a free one",
    async (_, order) => {
      const { first, ours } = await givenTaken(order(await loadLastRelease()));

      expect(await ours().acquire(GMAIL)).toMatchObject({ kind: "full" });
      await first.release(null);

      expect(await ours().acquire(GMAIL)).toMatchObject({ kind: "acquired" });
    },
  );

  test.each(pairs)(
    "a process of %s opens no session during a backoff that the other release began",
    async (_, order) => {
      const { first, ours } = await givenTaken(order(await loadLastRelease()));

      await first.release({ refusal: REFUSAL, needsCooldown: false });

      expect(await ours().acquire(GMAIL)).toMatchObject({ kind: "backoff" });
    },
  );

  test("six processes, three of each release, ask every row once at the allowed rate", async () => {
    const releases = [await loadLastRelease(), CURRENT];

    const cluster = await simulateCluster(6, 200, 100, { releases });

    expect(cluster).toMatchObject({ valid: cluster.rows, unknown: 0, askedTwice: 0 });
    expect(cluster.peak).toBe(PROVIDER_CONNECTIONS);
    expect(cluster.rate).toBeGreaterThan(cluster.rateMax * 0.85);
  });

  test("the role of today's prober lets the last release write its state of mail hosts", async () => {
    const written = new Set<string>();
    const release = { ...(await loadLastRelease()), change: recordWrites(written) };
    const allowed = listGrants(["table:mail-hosts"]).flatMap(({ partitions = [] }) => partitions);

    await simulateCluster(6, 200, 100, { releases: [release], exits: 2 });

    expect([...written].some((pk) => pk.startsWith("PROVIDER#"))).toBe(true);
    expect([...written].filter((pk) => !allowed.some((one) => isOf(pk, one)))).toEqual([]);
  });

  test("the simulation detects that today's code stores slots under another name than the last release", async () => {
    const releases = [renameStored(await loadLastRelease(), "slot_", "place_"), CURRENT];

    const { peak } = await simulateCluster(6, 200, 100, { releases });

    expect(peak).toBeGreaterThan(PROVIDER_CONNECTIONS);
  });
});
