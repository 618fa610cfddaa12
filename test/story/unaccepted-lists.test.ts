import type { AppWorld } from "@mailproof/core/app-world";
import { expect, test } from "vitest";
import { whenQuiet } from "../app/drain-queues.ts";
import { createProcessGoneAfter, runTurn } from "../app/faulty-worlds.ts";
import { thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import {
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  type TestContext,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";

// A list is written before the transaction that makes it a job. If the process dies between the two, nothing refers to
// the list, and the reconciler removes it.

const EMAILS = ["ann@x.com", "ann@x.com", "bob@x.com"];
const CHANGES_MAX = 12;

const REQUESTS: Readonly<Record<string, (world: AppWorld, ctx: TestContext) => Promise<unknown>>> =
  {
    batch: (world, { liveKey }) => whenBatched(world, liveKey, { emails: EMAILS }, "k"),
    file: async (world, ctx) => {
      const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(EMAILS));
      return whenFiled(world, ctx.liveKey, createProcessRequest(fileKey), "k");
    },
    again: async (world, ctx) => {
      const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: EMAILS });
      await whenQuiet(ctx);
      const again = { key: ctx.liveKey, body: { filter: "score:0-100" } };
      return send(world, `POST /v1/jobs/${data.job_id}/again`, again);
    },
  };

const listOrphans = async (ctx: TestContext): Promise<readonly string[]> => {
  const { data } = await send(ctx.world, "GET /v1/jobs", { key: ctx.liveKey });
  const jobs = data.jobs.map(({ job_id: id }: { job_id: string }) => id);
  return ctx.blobs
    .keys()
    .filter((key) => key.startsWith("inputs/"))
    .filter((key) => !jobs.some((id: string) => key.startsWith(`inputs/${id}.`)));
};

test.each(Object.entries(REQUESTS))(
  "a process that dies at any step of a %s leaves no list without a job",
  async (_, request) => {
    let orphansBefore = 0;
    for (let changes = 0; changes < CHANGES_MAX; changes++) {
      const ctx = await givenChunked();
      void request(createProcessGoneAfter(ctx, changes).world, ctx);
      for (let turns = 0; turns < 40; turns++) await runTurn();
      orphansBefore += (await listOrphans(ctx)).length;

      await whenQuiet(ctx);

      expect(await listOrphans(ctx), `after ${changes} changes`).toEqual([]);
      expect(ctx.table.items().filter(({ sk }) => sk === "DELETION")).toEqual([]);
      await thenConsistent(ctx);
    }
    expect(orphansBefore).toBeGreaterThan(0);
  },
);
