import { DELAYS_MS } from "@mailproof/functions/aws/aws";
import { sqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { expect, test } from "vitest";
import { describeWith } from "../available.ts";
import { DYNAMODB, emulatedAws } from "../aws/emulators.ts";
import {
  answering,
  lostAfter,
  lostBefore,
  meeting,
  refusing,
  times,
  unreachable,
} from "../aws/faults.ts";
import { newQueues } from "../aws/resources.ts";
import { sqsReceiving } from "../aws/sqs-receiving.ts";

const TRIES = DELAYS_MS.length + 1;
const chunks = { name: "chunks", visibilitySeconds: 30, receivesMax: 3, atOnce: 10 };

const given = async (faults: Parameters<typeof meeting>[1]) => {
  const sound = await emulatedAws();
  const urls = await newQueues(sound, [chunks]);
  const met: string[] = [];
  const aws = await emulatedAws({ between: meeting("SendMessageBatch", faults, met) });
  const receiving = sqsReceiving(sound, async () => urls);
  const arrived = async () =>
    (await receiving.receive(chunks, { waitMs: 0 })).map(({ body }) => body);
  return { queue: sqsQueue(aws, urls), arrived, met };
};

const messages = (count: number) => Array.from({ length: count }, (_row, body) => ({ body }));
const sizesOf = (met: readonly string[]) =>
  met.map((body) => (JSON.parse(body) as { Entries: unknown[] }).Entries.length);

describeWith(DYNAMODB, "faults between us and SQS", () => {
  test("of each message it is told what became of it, in the order given", async () => {
    const { queue } = await given([
      answering(200, {
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
    ["before they were queued", lostBefore, [0]],
    ["after they were queued", lostAfter, [0, 0]],
  ])(
    "messages whose answer is lost %s are sent again: twice is no harm",
    async (_case, fault, bodies) => {
      const { queue, arrived } = await given([fault]);

      expect(await queue.sendMany("chunks", messages(1))).toEqual(["sent"]);
      expect(await arrived()).toEqual(bodies);
    },
  );

  test("without any answer it is unknown whether they were queued", async () => {
    const { queue } = await given(times(2, lostBefore));

    expect(await queue.sendMany("chunks", messages(2))).toEqual(["unknown", "unknown"]);
  });

  test.each([
    ["SQS is asked too often", refusing("ThrottlingException")],
    ["nobody is there", unreachable],
  ])("while %s they are sent again, and refused in the end", async (_case, fault) => {
    const patient = await given(times(TRIES - 1, fault));
    const vain = await given(times(TRIES, fault));

    expect(await patient.queue.sendMany("chunks", messages(1))).toEqual(["sent"]);
    expect(await vain.queue.sendMany("chunks", messages(1))).toEqual(["refused"]);
    expect(await vain.arrived()).toEqual([]);
  });

  test.each([
    ["the whole batch", refusing("AccessDeniedException")],
    ["a message", answering(200, { Failed: [{ Id: "0", SenderFault: true }] })],
  ])("what is refused, %s, after an answer was lost is unknown", async (_case, refusal) => {
    const { queue } = await given([lostAfter, refusal]);

    expect(await queue.sendMany("chunks", messages(1))).toEqual(["unknown"]);
  });

  test("one request that fails says nothing of the others", async () => {
    const { queue } = await given([refusing("AccessDeniedException")]);

    const sent = await queue.sendMany("chunks", messages(25));

    expect(sent.filter((one) => one === "refused")).toHaveLength(10);
    expect(sent.filter((one) => one === "sent")).toHaveLength(15);
  });

  test("ten messages go at a time, and no more than a mebibyte", async () => {
    const { queue, met } = await given([]);
    const large = { body: "x".repeat(400_000) };

    await queue.sendMany("chunks", messages(25));
    await queue.sendMany("chunks", [large, large, large, { body: 1 }]);

    expect(sizesOf(met)).toEqual([10, 10, 5, 2, 2]);
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

  test("a queue that nobody told this Lambda of is an error", async () => {
    const { queue } = await given([]);

    await expect(queue.sendMany("other", messages(1))).rejects.toThrow("knows no queue other");
  });
});
