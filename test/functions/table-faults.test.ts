import type { Write } from "@mailproof/core/ports/table";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import { expect, test } from "vitest";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import {
  answerWith,
  cancelWith,
  injectFaults,
  loseAfter,
  loseBefore,
  RETRY_DELAYS_MS,
  refuseConnection,
  refuseWith,
  repeatFault,
} from "../aws/faults.ts";
import { createTable } from "../aws/resources.ts";
import { describeWith } from "../runner/describe-when.ts";

const TRIES = RETRY_DELAYS_MS.length + 1;
const counter = { pk: "P", sk: "counter" };
const addOne = (): Write[] => [{ update: counter, add: { n: 1 }, orCreate: true }];

type Faults = Parameters<typeof injectFaults>[1];

const given = async (operation: string, faults: Faults) => {
  const sound = await createEmulatedAws();
  const name = await createTable(sound);
  const met: string[] = [];
  const sleeps: number[] = [];
  const aws = await createEmulatedAws({
    between: injectFaults(operation, faults, met),
    random: () => 0.5,
    sleep: async (ms) => void sleeps.push(ms),
  });
  const count = async () => (await createDynamoTable(sound, name).get(counter))?.["n"];
  return { table: createDynamoTable(aws, name), count, met, sleeps };
};

const findToken = (body: string): unknown =>
  (JSON.parse(body) as { ClientRequestToken?: string }).ClientRequestToken;

describeWith(DYNAMODB, "faults between the adapter and DynamoDB", () => {
  test.each<[string, Faults]>([
    ["before it was applied", [loseBefore]],
    ["after it was applied", [loseAfter]],
    ["by an error inside AWS", [refuseWith("InternalServerError", 500)]],
    ["in the middle of the answer", [answerWith(200, "{")]],
  ])(
    "the DynamoDB adapter repeats a transaction whose answer is lost %s, and DynamoDB applies it once",
    async (_case, faults) => {
      const { table, count, met } = await given("TransactWriteItems", faults);

      expect(await table.transact(addOne())).toEqual({ outcome: "committed" });

      expect(await count()).toBe(1);
      expect(met).toHaveLength(2);
      expect(new Set(met.map(findToken)).size).toBe(1);
    },
  );

  test("two equal DynamoDB transactions use two tokens and are both applied", async () => {
    const { table, count, met } = await given("TransactWriteItems", []);

    await table.transact(addOne());
    await table.transact(addOne());

    expect(await count()).toBe(2);
    expect(new Set(met.map(findToken)).size).toBe(2);
  });

  test.each([
    ["before it was applied", loseBefore],
    ["after it was applied", loseAfter],
  ])(
    "a transaction whose answers are all lost %s is ambiguous, and a repeat with its token applies it once",
    async (_case, fault) => {
      const { table, count, met } = await given("TransactWriteItems", repeatFault(2, fault));
      const attempt = { token: `txn_${crypto.randomUUID()}`, at: new Date() };

      expect(await table.transact(addOne(), attempt)).toEqual({ outcome: "ambiguous" });
      expect(await table.transact(addOne(), attempt)).toEqual({ outcome: "committed" });

      expect(await count()).toBe(1);
      expect(new Set(met.map(findToken)).size).toBe(1);
    },
  );

  test.each([
    ["before it was applied", loseBefore, undefined],
    ["after it was applied", loseAfter, 1],
    ["by an error inside AWS", refuseWith("InternalServerError", 500), undefined],
  ])(
    "a single write whose answer is lost %s is ambiguous and not repeated",
    async (_case, fault, n) => {
      const { table, count, met } = await given("UpdateItem", [fault]);
      const [write] = addOne() as [Write];

      expect(await table.write(write)).toEqual({ outcome: "ambiguous" });

      expect(met).toHaveLength(1);
      expect(await count()).toBe(n);
    },
  );

  test.each<[string, Faults[number]]>([
    ["another transaction holds one of its items", cancelWith("TransactionConflict")],
    ["one of its items is throttled", cancelWith("ThrottlingError")],
    ["the table is throttled", refuseWith("ProvisionedThroughputExceededException")],
    ["the account is throttled", refuseWith("ThrottlingException")],
    ["the first attempt is still running", refuseWith("TransactionInProgressException")],
    ["DynamoDB is unreachable", refuseConnection],
  ])(
    "the DynamoDB adapter repeats a transaction after growing pauses while %s",
    async (_case, fault) => {
      const { table, count, sleeps } = await given(
        "TransactWriteItems",
        repeatFault(TRIES - 1, fault),
      );

      expect(await table.transact(addOne())).toEqual({ outcome: "committed" });

      expect(await count()).toBe(1);
      expect(sleeps).toEqual(RETRY_DELAYS_MS.map((ms) => ms / 2));
    },
  );

  test("a transaction in conflict at every attempt throws and writes nothing", async () => {
    const { table, count } = await given(
      "TransactWriteItems",
      repeatFault(TRIES, cancelWith("TransactionConflict")),
    );

    await expect(table.transact(addOne())).rejects.toThrow("TransactWriteItems");
    expect(await count()).toBeUndefined();
  });

  test("a transaction refused for another reason after a lost answer is ambiguous", async () => {
    const expired = refuseWith("ExpiredTokenException");
    const { table, count } = await given("TransactWriteItems", [loseAfter, expired]);

    expect(await table.transact(addOne())).toEqual({ outcome: "ambiguous" });
    expect(await count()).toBe(1);
  });

  test("a transaction in conflict at every attempt after a lost answer is ambiguous", async () => {
    const { table } = await given("TransactWriteItems", [
      loseAfter,
      ...repeatFault(TRIES, refuseWith("TransactionInProgressException")),
    ]);

    expect(await table.transact(addOne())).toEqual({ outcome: "ambiguous" });
  });

  test("a transaction reports a failed condition, even beside a conflicting transaction", async () => {
    const { table } = await given("TransactWriteItems", [
      cancelWith("TransactionConflict", "ConditionalCheckFailed"),
    ]);
    const [first, second] = [{ put: counter }, { check: { pk: "P", sk: "no" }, where: {} }];

    expect(await table.transact([first, second])).toEqual({
      outcome: "refused",
      refusedWrite: second,
    });
  });

  test("a single write waits while a transaction locks the item", async () => {
    const { table, count } = await given("UpdateItem", [
      refuseWith("TransactionConflictException"),
    ]);
    const [write] = addOne() as [Write];

    expect(await table.write(write)).toMatchObject({ outcome: "committed" });
    expect(await count()).toBe(1);
  });

  test("the DynamoDB adapter repeats a read until an answer arrives", async () => {
    const faults = [loseBefore, refuseWith("ThrottlingException"), loseAfter, answerWith(200, "{")];
    const { table } = await given("GetItem", faults);

    expect(await table.get(counter)).toBeUndefined();
  });

  test("a read that never reaches DynamoDB fails in the end", async () => {
    const { table } = await given("Query", repeatFault(TRIES, refuseConnection));

    await expect(table.query({ pk: "P", limit: 1 })).rejects.toThrow("Query: no answer");
  });

  test("the DynamoDB adapter throws AWS's refusal by name", async () => {
    const { table } = await given("TransactWriteItems", [refuseWith("AccessDeniedException")]);

    await expect(table.transact(addOne())).rejects.toThrow("AccessDeniedException");
  });

  test("the DynamoDB adapter fills up a page that AWS cut short", async () => {
    const { table } = await given("Query", [
      answerWith(200, { Items: [], LastEvaluatedKey: { pk: { S: "P" }, sk: { S: "a" } } }),
    ]);
    for (const sk of ["a", "b", "c"]) await table.write({ create: { pk: "P", sk } });

    const { items } = await table.query({ pk: "P", limit: 9 });

    expect(items.map(({ sk }) => sk)).toEqual(["b", "c"]);
  });

  test("a page after many pages of expired items may contain nothing and still return a next page", async () => {
    const empty = answerWith(200, {
      Items: [],
      LastEvaluatedKey: { pk: { S: "P" }, sk: { S: "a" } },
    });
    const { table } = await given("Query", repeatFault(10, empty));
    for (const sk of ["a", "b"]) await table.write({ create: { pk: "P", sk } });

    const first = await table.query({ pk: "P", limit: 9 });
    expect(first.items).toEqual([]);

    const after = first.next;
    const { items } = await table.query({ pk: "P", limit: 9, ...(after && { after }) });
    expect(items.map(({ sk }) => sk)).toEqual(["b"]);
  });
});
