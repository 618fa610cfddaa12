import type { AppWorld } from "@mailproof/core/app-world";
import { verifyChunk } from "@mailproof/core/jobs/chunk-worker";
import { type Chunk, chunksOf } from "@mailproof/core/jobs/chunks";
import { findJob, type Job } from "@mailproof/core/jobs/items";
import { rowsOf } from "@mailproof/core/jobs/results";
import type { Json, Table } from "@mailproof/core/table";
import { anns, givenChunked, type House, whenBatched } from "../../jobs.ts";

/** A batch that is accepted, and its first messages, in the hands of whoever tests what a worker makes of them. */
export const givenMessages = async (
  emails: readonly string[] = anns(5),
  rows = 2,
): Promise<House & { readonly messages: readonly Json[] }> => {
  const house = await givenChunked({ rows });
  await whenBatched(house.world, house.liveKey, { emails });
  return { ...house, messages: await messagesIn(house) };
};

/** Everything that waits for a worker of chunks, taken out of the queue. */
export const messagesIn = async ({ queue }: Pick<House, "queue">): Promise<readonly Json[]> => {
  const messages: Json[] = [];
  for (;;) {
    const received = await queue.receive(verifyChunk.queue, { waitMs: 0 });
    if (received.length === 0) return messages;
    for (const { body, receipt } of received) {
      messages.push(body);
      await queue.done(receipt);
    }
  }
};

export const jobOf = async ({ table }: { readonly table: Table }, id = "job_1"): Promise<Job> => {
  const job = await findJob(table, id);
  if (!job) throw new Error(`there is no ${id}`);
  return job;
};

export const chunksIn = ({ table }: Pick<House, "table">): Promise<Chunk[]> =>
  Array.fromAsync(chunksOf(table, "job_1"));

/** The addresses that have a result, in the order of the input. */
export const emailsTold = async ({ table }: Pick<House, "table">): Promise<string[]> => {
  const told: string[] = [];
  for await (const chunk of chunksOf(table, "job_1"))
    told.push(...(await rowsOf(table, chunk)).map(({ result }) => result.email));
  return told;
};

type Probe = AppWorld["engine"]["probe"];

/** The same world with mail servers of which the test decides how they answer. */
export const probing = (world: AppWorld, probe: (ask: Probe) => Probe): AppWorld => ({
  ...world,
  engine: { ...world.engine, probe: probe(world.engine.probe.bind(world.engine)) },
});

/** Every server puts everybody off. */
export const greylisting = (world: AppWorld): AppWorld =>
  probing(world, (ask) => (question) => ask({ ...question, recipient: "greylisted@x.com" }));
