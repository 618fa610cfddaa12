import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { getBalance } from "@mailproof/core/money/balance";
import { credits, toCredits } from "@mailproof/core/money/credits";
import type { Table } from "@mailproof/core/ports/table";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { whenChecked, whenFound, whenVerified } from "../app/send.ts";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createTable } from "../aws/resources.ts";
import { asRows } from "../runner/as-rows.ts";
import { type Adapters, describeAdapters } from "../runner/describe-when.ts";
import { createFolder } from "../servers/running.ts";
import { memoryTable } from "../simulation/memory-table.ts";
import { whenTestCreated } from "../things/mail-tests.ts";

// What a charge leaves is stated by the transaction that charges, over every adapter of the table.

const now = () => new Date();

/** `charges`: at one moment. On DynamoDB each refuses all others, and one that was refused too often states nothing. */
type Adapter = { readonly open: () => Table | Promise<Table>; readonly charges: number };

const openDynamo = async () => {
  const aws = await createEmulatedAws();
  return createDynamoTable(aws, await createTable(aws));
};

const adapters: Adapters<Adapter> = asRows`
  on memory | ${{ open: () => memoryTable(now), charges: 60 }}
  on sqlite | ${{ open: () => createSqliteTable(join(createFolder(), "table.sqlite"), now), charges: 60 }}
  on dynamodb | ${{ open: openDynamo, charges: 12 }} | ${DYNAMODB}
`;

const BALANCE = 1_000;

describeAdapters("credits_remaining", adapters, ({ open, charges }) => {
  const givenAccount = async () => {
    const table = await open();
    const { world: simulated } = givenWorld();
    const world: AppWorld = {
      ...simulated,
      table,
      rateLimit: createRateLimit(table, now),
      now,
      sleep: (ms) => setTimeout(ms),
      random: Math.random,
      newId: (prefix) => `${prefix}_${randomUUID()}`,
    };
    const opening = { name: "Ann's Shop", plan: "free", opening: credits(BALANCE) } as const;
    return { world, ...(await openAccount(world, opening)) };
  };
  type Given = Awaited<ReturnType<typeof givenAccount>>;

  const whenSearched = ({ world, liveKey }: Given, at: number) =>
    whenFound(world, liveKey, {
      first_name: `A${"n".repeat(at)}`,
      last_name: "Lee",
      domain: "example.com",
    });
  const whenCharged = (given: Given, at: number) => {
    const { world, liveKey } = given;
    if (at % 3 === 0) return whenSearched(given, at);
    return at % 3 === 1
      ? whenChecked(world, liveKey, { domain: `${at}.example.com` })
      : whenTestCreated(world, liveKey);
  };

  test("concurrent charges each state the balance that they left", async () => {
    const given = await givenAccount();

    const responses = await Promise.all(
      Array.from({ length: charges }, (_, at) => whenCharged(given, at)),
    );

    const stated = responses
      .map((one) => [Number(one.data.credits_remaining), Number(one.data.credits_used)] as const)
      .toSorted(([a], [b]) => b - a);
    let left = BALANCE;
    expect(stated).toEqual(stated.map(([, used]) => [(left -= used), used]));
    const { available } = await getBalance(given.world.table, given.account);
    expect(toCredits(available)).toBe(left);
  });

  test("the service answers every search that runs beside other charges", async () => {
    const given = await givenAccount();
    const { world, liveKey } = given;

    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        at % 5 === 0
          ? whenSearched(given, at)
          : whenVerified(world, liveKey, { email: `valid+${at}@example.com` }),
      ),
    );

    expect(responses.map(({ statusCode }) => statusCode)).toEqual(responses.map(() => 200));
  });
});
