import type { FileTold } from "@mailproof/core/jobs/dispatch";
import { acceptFile } from "@mailproof/core/jobs/file";
import { expect, test } from "vitest";
import { type Fate, fated } from "../../breaking.ts";
import { anns, csvOf, givenChunked, type House, whenPut } from "../../jobs.ts";
import { creditsOf, newsIn, thenInOrder } from "../../ledger.ts";
import { whenQuiet } from "../../working.ts";
import { chunksIn, emailsTold, jobOf } from "./working-chunks.ts";

const WISH = {
  field: "file_key" as const,
  emailColumn: undefined,
  hasHeader: undefined,
  name: null,
  wants: { deepVerify: true, includeAi: true },
  callback: null,
};

const whenAccepted = async (house: House, world = house.world): Promise<FileTold> => {
  const payer = { account: house.account, mode: "live", plan: "pro" } as const;
  const fileKey = `uploads/live/${house.account}/upl_1.csv`;
  await whenPut(house.world, fileKey, csvOf(anns(5)));
  return acceptFile(world, payer, { ...WISH, fileKey }, null);
};

const FATES: readonly Fate[] = ["sent", "refused", "unknown", "unheard"];
const ADDRESSES = [2, 2, 1];
/** Every fate of every chunk: 64 ways in which three messages can go. */
const WAYS = FATES.flatMap((one) =>
  FATES.flatMap((two) => FATES.map((three): [Fate, Fate, Fate] => [one, two, three])),
);

const addressesOf = (way: readonly Fate[], ...fates: readonly Fate[]): number =>
  ADDRESSES.reduce((sum, count, at) => sum + (fates.includes(way[at] ?? "sent") ? count : 0), 0);

test.each(WAYS.filter((way) => addressesOf(way, "refused") < 5))(
  "of chunks that are %s, %s and %s what is settled, held and given back adds up to the price",
  async (...way) => {
    const house = await givenChunked();
    const refused = addressesOf(way, "refused");
    const unknown = addressesOf(way, "unknown", "unheard");

    const told = await whenAccepted(
      house,
      fated(house, (chunk) => way[chunk] ?? "sent"),
    );

    expect(told).toMatchObject({ how: "accepted", price: 10, dispatched: { refused, unknown } });
    expect(await creditsOf(house)).toMatchObject({
      available: 95 + refused,
      held: unknown,
      spent: 5 - refused - unknown,
      refunded: refused,
    });
    await thenInOrder(house);
  },
);

test.each(WAYS.filter((way) => addressesOf(way, "refused") < 5))(
  "of chunks that are %s, %s and %s and can be queued later every address is verified or given back, and none both",
  async (...way) => {
    const house = await givenChunked();
    const refused = addressesOf(way, "refused");
    await whenAccepted(
      house,
      fated(house, (chunk) => way[chunk] ?? "sent"),
    );

    await whenQuiet(house);

    const [chunks, job] = [await chunksIn(house), await jobOf(house)];
    expect(job).toMatchObject({ status: "completed", processed: 5 - refused, refunded: refused });
    expect(chunks.map(({ outcome }) => outcome)).toEqual(
      way.map((fate) => (fate === "refused" ? "refunded" : "done")),
    );
    expect(await emailsTold(house)).toHaveLength(5 - refused);
    expect(await creditsOf(house)).toMatchObject({
      held: 0,
      spent: 5 - refused,
      refunded: refused,
    });
    await thenInOrder(house);
  },
);

test.each(WAYS.filter((way) => addressesOf(way, "refused") < 5))(
  "of chunks that are %s, %s and %s and never can be queued again every address is verified or given back",
  async (...way) => {
    const house = await givenChunked();
    await whenAccepted(
      house,
      fated(house, (chunk) => way[chunk] ?? "sent"),
    );
    const verified = addressesOf(way, "sent", "unheard");

    await whenQuiet({ ...house, world: fated(house, () => "refused") });

    const { status, processed, refunded } = await jobOf(house);
    expect([status, processed, refunded]).toEqual([
      verified > 0 ? "completed" : "failed",
      verified,
      5 - verified,
    ]);
    expect(await emailsTold(house)).toHaveLength(verified);
    expect(await creditsOf(house)).toMatchObject({ held: 0, spent: verified });
    expect(newsIn(house)).toHaveLength(1);
    await thenInOrder(house);
  },
);

test("what is refused to the last chunk is no job, and given back whole", async () => {
  const house = await givenChunked();

  await expect(
    whenAccepted(
      house,
      fated(house, () => "refused"),
    ),
  ).rejects.toMatchObject({
    code: "INTERNAL",
    money: "refunded",
  });

  expect(await creditsOf(house)).toMatchObject({ available: 100, held: 0, refunded: 5 });
  expect(await chunksIn(house)).toEqual([]);
});

test("the cells of a file are kept with its input in their order, and an e-mail cell that is the address is left out", async () => {
  const house = await givenChunked();
  const fileKey = `uploads/live/${house.account}/upl_1.csv`;
  await whenPut(house.world, fileKey, "Name,E-Mail,,City\nAnn,ann@x.com,1,Rome\n");
  const payer = { account: house.account, mode: "live", plan: "pro" } as const;

  await acceptFile(house.world, payer, { ...WISH, fileKey }, null);

  const input = house.table.items().find(({ sk }) => sk === "INPUT");
  expect(input).toMatchObject({ columns: ["Name", "column_3", "City"] });
  const body = await house.blobs.get("inputs/job_1.jsonl");
  const lines = body && Buffer.concat(await Array.fromAsync(body.content)).toString();
  expect(lines).toBe('[2,"ann@x.com","Ann","","1","Rome"]\n');
});
