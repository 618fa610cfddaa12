import type { AppWorld } from "@mailproof/core/app-world";
import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import type { Json, Table } from "@mailproof/core/ports/table";
import { type Chunk, iterateChunks } from "@mailproof/core/rows/chunks";
import { findJob, type Job } from "@mailproof/core/rows/items";
import { readResultRows } from "@mailproof/core/rows/results";
import { createEmails, givenChunked, type TestContext, whenBatched } from "../../things/jobs.ts";

/** A batch that is accepted, and its first messages, taken from the queue so that a test can give them to a worker. */
export const setupMessages = async (
  emails: readonly string[] = createEmails(5),
  rows = 2,
): Promise<TestContext & { readonly messages: readonly Json[] }> => {
  const ctx = await givenChunked({ rows });
  await whenBatched(ctx.world, ctx.liveKey, { emails });
  return { ...ctx, messages: await receiveAll(ctx) };
};

/** Everything that waits for a worker of chunks, taken out of the queue. */
export const receiveAll = async ({
  queue,
}: Pick<TestContext, "queue">): Promise<readonly Json[]> => {
  const messages: Json[] = [];
  for (;;) {
    const received = await queue.receive(verifyChunk.queue, { waitMs: 0 });
    if (received.length === 0) return messages;
    for (const { body, receipt } of received) {
      messages.push(body);
      await queue.acknowledge(receipt);
    }
  }
};

export const readStoredJob = async (
  { table }: { readonly table: Table },
  id = "job_1",
): Promise<Job> => {
  const job = await findJob(table, id);
  if (!job) throw new Error(`there is no ${id}`);
  return job;
};

export const listStoredChunks = ({ table }: Pick<TestContext, "table">): Promise<Chunk[]> =>
  Array.fromAsync(iterateChunks(table, "job_1"));

/** The addresses that have a result, in the order of the input. */
export const listResultEmails = async ({
  table,
}: Pick<TestContext, "table">): Promise<string[]> => {
  const emails: string[] = [];
  for await (const chunk of iterateChunks(table, "job_1"))
    emails.push(...(await readResultRows(table, chunk)).map(({ result }) => result.email));
  return emails;
};

type Probe = AppWorld["engine"]["probe"];

/** The same world with mail servers of which the test decides how they answer. */
export const probing = (world: AppWorld, probe: (ask: Probe) => Probe): AppWorld => ({
  ...world,
  engine: { ...world.engine, probe: probe(world.engine.probe.bind(world.engine)) },
});

/** Every mail server defers every recipient. */
export const greylisting = (world: AppWorld): AppWorld =>
  probing(world, (ask) => (question) => ask({ ...question, recipient: "greylisted@x.com" }));
