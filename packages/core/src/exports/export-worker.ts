import * as v from "valibot";
import { MINUTE_MS } from "../lib/time.ts";
import { getOwnerId, toQueueGroup } from "../money/payer.ts";
import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { Job } from "../rows/items.ts";
import { findJob } from "../rows/items.ts";
import { MAX_LEASE_MS } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import { EXPORT, findExport, readExport, type StoredExport, toExportKey } from "./export-items.ts";
import { failExport, makePart } from "./make-export.ts";

/** The largest part takes a few seconds. On one machine a part is the whole file, and other work runs meanwhile. */
const EXPORTS_QUEUE = {
  name: "exports",
  visibilitySeconds: 300,
  receivesMax: 4,
  concurrency: 2,
};

/** `id`: a worker ignores a message for a replaced export. */
const ExportMessage = v.object({
  job: v.string(),
  kind: v.string(),
  id: v.string(),
  part: v.number(),
});

export const sendParts = async (
  world: Pick<World, "queue">,
  owner: Pick<Job, "account" | "mode">,
  { job, kind, id, parts }: StoredExport,
): Promise<void> => {
  const messages = parts.flatMap((isMade, part) =>
    isMade ? [] : [{ body: { job, kind, id, part }, ...toQueueGroup(getOwnerId(owner)) }],
  );
  await world.queue.sendMany(EXPORTS_QUEUE.name, messages);
};

const findWanted = async (
  world: World,
  body: unknown,
): Promise<{ readonly stored: StoredExport; readonly part: number } | undefined> => {
  const message = v.parse(ExportMessage, body);
  const stored = await findExport(world.table, message);
  return stored?.id === message.id ? { stored, part: message.part } : undefined;
};

/** Makes a part of an export. A message that arrives twice or late finds the part in place. */
export const makeExport: Worker = {
  queue: EXPORTS_QUEUE,
  // The parts of the largest export run side by side.
  lambda: { batch: 1, concurrency: 10, isHeavy: true },
  needs: ["table:readwrite", "blobs:read", "blobs:write"],

  async handle(world, body) {
    const wanted = await findWanted(world, body);
    if (wanted) await makePart(world, wanted.stored, wanted.part);
  },

  giveUp: {
    needs: ["table:readwrite", "blobs:read", "blobs:write"],
    async handle(world, body) {
      const wanted = await findWanted(world, body);
      if (wanted) await failExport(world, wanted.stored);
    },
  },
};

/** An export that is still incomplete gets its messages again after two minutes. */
export const RESEND_AFTER_MS = 2 * MINUTE_MS;
const SENDS_MAX = 5;

const repairExport = async (world: World, item: Item): Promise<string> => {
  const stored = readExport(item);
  const job = await findJob(world.table, stored.job);
  if (!job || stored.sends >= SENDS_MAX) {
    await failExport(world, stored);
    return "failed";
  }
  // When every part exists, the message of the first part joins the file.
  const isJoinLeft = stored.parts.every(Boolean);
  await sendParts(world, job, isJoinLeft ? { ...stored, parts: [false] } : stored);
  await world.table.write({
    update: toExportKey(stored),
    add: { sends: 1 },
    where: { id: stored.id },
  });
  return "sent_again";
};

export const exportWork: WorkKind = {
  kind: EXPORT,
  repair: repairExport,
  longestWaitMs: MAX_LEASE_MS,
};
