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

describeWith(DYNAMODB, "faults between the adapter and SQS", () => {
  test("the SQS adapter reports the outcome of each message in the given order", async () => {
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
    ["before SQS queued them", loseBefore, [0]],
    ["after SQS queued them", loseAfter, [0, 0]],
  ])(
    "the SQS adapter sends messages again whose answer was lost %s, since a duplicate is harmless",
    async (_case, fault, bodies) => {
      const { queue, arrived: countArrived } = await given([fault]);

      expect(await queue.sendMany("chunks", messages(1))).toEqual(["sent"]);
      expect(await countArrived()).toEqual(bodies);
    },
  );

  test("the SQS adapter reports unknown when no answer arrives at all", async () => {
    const { queue } = await given(repeatFault(2, loseBefore));

    expect(await queue.sendMany("chunks", messages(2))).toEqual(["unknown", "unknown"]);
  });

  test.each([
    ["SQS throttles", refuseWith("ThrottlingException")],
    ["SQS is unreachable", refuseConnection],
  ])(
    "the SQS adapter retries while %s, and reports refused after the last attempt",
    async (_case, fault) => {
      const patient = await given(repeatFault(TRIES - 1, fault));
      const vain = await given(repeatFault(TRIES, fault));

      expect(await patient.queue.sendMany("chunks", messages(1))).toEqual(["sent"]);
      expect(await vain.queue.sendMany("chunks", messages(1))).toEqual(["refused"]);
      expect(await vain.arrived()).toEqual([]);
    },
  );

  test.each([
    ["the whole batch", refuseWith("AccessDeniedException")],
    ["one message", answerWith(200, { Failed: [{ Id: "0", SenderFault: true }] })],
  ])(
    "the SQS adapter reports unknown when SQS refuses %s after a lost answer",
    async (_case, refusal) => {
      const { queue } = await given([loseAfter, refusal]);

      expect(await queue.sendMany("chunks", messages(1))).toEqual(["unknown"]);
    },
  );

  test("the SQS adapter reports the other messages' outcomes when one request fails", async () => {
    const { queue } = await given([refuseWith("AccessDeniedException")]);

    const sent = await queue.sendMany("chunks", messages(25));

    expect(sent.filter((one) => one === "refused")).toHaveLength(10);
    expect(sent.filter((one) => one === "sent")).toHaveLength(15);
  });

  test("the SQS adapter sends ten messages at a time and at most a mebibyte", async () => {
    const { queue, met } = await given([]);
    const large = { body: "x".repeat(400_000) };

    await queue.sendMany("chunks", messages(25));
    await queue.sendMany("chunks", [large, large, large, { body: 1 }]);

    expect(getSizes(met)).toEqual([10, 10, 5, 2, 2]);
  });

  test("the SQS adapter sends a message's group as its MessageGroupId, and none without a group", async () => {
    const { queue, met } = await given([]);

    await queue.sendMany("chunks", [{ body: 1, group: "acc_1" }, { body: 2 }]);

    expect(JSON.parse(met[0] ?? "").Entries).toEqual([
      { Id: "0", MessageBody: "1", DelaySeconds: 0, MessageGroupId: "acc_1" },
      { Id: "1", MessageBody: "2", DelaySeconds: 0 },
    ]);
  });

  test("the SQS adapter sends no request for zero messages", async () => {
    const { queue, met } = await given([]);

    expect(await queue.sendMany("chunks", [])).toEqual([]);
    expect(met).toEqual([]);
  });

  test("the SQS adapter throws for a queue that its settings lack", async () => {
    const { queue } = await given([]);

    await expect(queue.sendMany("other", messages(1))).rejects.toThrow("knows no queue other");
  });
});
