import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { expect, test } from "vitest";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import {
  answerWith,
  injectFaults,
  loseAfter,
  loseBefore,
  RETRY_DELAYS_MS,
  refuseConnection,
  refuseWith,
  repeatFault,
} from "../aws/faults.ts";
import { createQueues } from "../aws/resources.ts";
import { createSqsReceiving } from "../aws/sqs-receiving.ts";
import { describeWith } from "../runner/describe-when.ts";

const TRIES = RETRY_DELAYS_MS.length + 1;
const chunks = { name: "chunks", visibilitySeconds: 30, receivesMax: 3, concurrency: 10 };

const given = async (faults: Parameters<typeof injectFaults>[1]) => {
  const sound = await createEmulatedAws();
  const urls = await createQueues(sound, [chunks]);
  const met: string[] = [];
  const aws = await createEmulatedAws({ between: injectFaults("SendMessageBatch", faults, met) });
  const receiving = createSqsReceiving(sound, async () => urls);
  const countArrived = async () =>
    (await receiving.receive(chunks, { waitMs: 0 })).map(({ body }) => body);
  return { queue: createSqsQueue(aws, urls), arrived: countArrived, met };
};

const messages = (count: number) => Array.from({ length: count }, (_row, body) => ({ body }));
const getSizes = (met: readonly string[]) =>
  met.map((body) => (JSON.parse(body) as { Entries: unknown[] }).Entries.length);

describeWith(DYNAMODB, "faults between us and SQS", () => {
  test("the outcome of each message is reported, in the order given", async () => {
    const { queue } = await given([
      answerWith(200, {
        Successful: [{ Id: "2" }, { Id: "0" }],
        Failed: [
          { Id: "1", SenderFault: true, Code: "InvalidMessageContents" },
          { Id: "3", SenderFault: false, Code: "InternalError" },
        ],
      }),
    ]);

    expect(await queue.sendMany("chunks", messages(5))).toEqual([
      "sent",
      "refused",
      "sent",
      "unknown",
      "unknown",
    ]);
  });

  test.each([
    ["before they were queued", loseBefore, [0]],
    ["after they were queued", loseAfter, [0, 0]],
  ])(
    "messages whose answer is lost %s are sent again: twice is no harm",
    async (_case, fault, bodies) => {
      const { queue, arrived: countArrived } = await given([fault]);

      expect(await queue.sendMany("chunks", messages(1))).toEqual(["sent"]);
      expect(await countArrived()).toEqual(bodies);
    },
  );

  test("without any answer it is unknown whether they were queued", async () => {
    const { queue } = await given(repeatFault(2, loseBefore));

    expect(await queue.sendMany("chunks", messages(2))).toEqual(["unknown", "unknown"]);
  });

  test.each([
    ["SQS is asked too often", refuseWith("ThrottlingException")],
    ["SQS cannot be reached", refuseConnection],
  ])("while %s they are sent again, and refused in the end", async (_case, fault) => {
    const patient = await given(repeatFault(TRIES - 1, fault));
    const vain = await given(repeatFault(TRIES, fault));

    expect(await patient.queue.sendMany("chunks", messages(1))).toEqual(["sent"]);
    expect(await vain.queue.sendMany("chunks", messages(1))).toEqual(["refused"]);
    expect(await vain.arrived()).toEqual([]);
  });

  test.each([
    ["the whole batch", refuseWith("AccessDeniedException")],
    ["a message", answerWith(200, { Failed: [{ Id: "0", SenderFault: true }] })],
  ])("what is refused, %s, after an answer was lost is unknown", async (_case, refusal) => {
    const { queue } = await given([loseAfter, refusal]);

    expect(await queue.sendMany("chunks", messages(1))).toEqual(["unknown"]);
  });

  test("one request that fails says nothing of the others", async () => {
    const { queue } = await given([refuseWith("AccessDeniedException")]);

    const sent = await queue.sendMany("chunks", messages(25));

    expect(sent.filter((one) => one === "refused")).toHaveLength(10);
    expect(sent.filter((one) => one === "sent")).toHaveLength(15);
  });

  test("ten messages go at a time, and no more than a mebibyte", async () => {
    const { queue, met } = await given([]);
    const large = { body: "x".repeat(400_000) };

    await queue.sendMany("chunks", messages(25));
    await queue.sendMany("chunks", [large, large, large, { body: 1 }]);

    expect(getSizes(met)).toEqual([10, 10, 5, 2, 2]);
  });

  test("the group of a message is its MessageGroupId, and a message of no group has none", async () => {
    const { queue, met } = await given([]);

    await queue.sendMany("chunks", [{ body: 1, group: "acc_1" }, { body: 2 }]);

    expect(JSON.parse(met[0] ?? "").Entries).toEqual([
      { Id: "0", MessageBody: "1", DelaySeconds: 0, MessageGroupId: "acc_1" },
      { Id: "1", MessageBody: "2", DelaySeconds: 0 },
    ]);
  });

  test("no messages are no request", async () => {
    const { queue, met } = await given([]);

    expect(await queue.sendMany("chunks", [])).toEqual([]);
    expect(met).toEqual([]);
  });

  test("a queue that the settings of this Lambda do not name is an error", async () => {
    const { queue } = await given([]);

    await expect(queue.sendMany("other", messages(1))).rejects.toThrow("knows no queue other");
  });
});
