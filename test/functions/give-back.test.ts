import type { Worker } from "@mailproof/core/worker";
import { DELAYS_MS } from "@mailproof/functions/aws/aws";
import { sqsGiveBack } from "@mailproof/functions/aws/sqs-give-back";
import { sqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { queueWorker } from "@mailproof/functions/queue-worker";
import { expect, test } from "vitest";
import { describeWith } from "../available.ts";
import { DYNAMODB, emulatedAws } from "../aws/emulators.ts";
import { sqsEvent } from "../aws/events.ts";
import { lostAfter, lostBefore, meeting, refusing, times } from "../aws/faults.ts";
import { newQueues } from "../aws/resources.ts";
import { sqsReceiving } from "../aws/sqs-receiving.ts";
import { givenWorld } from "../given.ts";

// As long as on AWS, where a message stays hidden for six times what its worker may take.
const chunks = { name: "chunks", visibilitySeconds: 5_400, receivesMax: 5, atOnce: 10 };
const failing: Worker = {
  queue: chunks,
  handle: () => Promise.reject(new Error("this cannot be done")),
};

describeWith(DYNAMODB, "a message whose work fails", () => {
  const given = async (faults: Parameters<typeof meeting>[1] = []) => {
    let ms = Date.UTC(2026, 10, 21);
    const now = () => new Date(ms);
    const sound = await emulatedAws({ now });
    const urls = await newQueues(sound, [chunks]);
    const receiving = sqsReceiving(sound, async () => urls);
    const faulty = await emulatedAws({ now, between: meeting("ChangeMessageVisibility", faults) });
    const { world, logged } = givenWorld();
    const work = queueWorker(failing, world, sqsGiveBack(faulty));
    const name = urls["chunks"]?.split("/").at(-1) ?? "";
    await sqsQueue(sound, urls).sendMany("chunks", [{ body: 1 }]);
    /** How often it was handed out, when somebody asks for messages and fails with what he gets. */
    const handedOut = async () => {
      const received = await receiving.receive(chunks, { waitMs: 0 });
      await work(sqsEvent(name, received));
      return received.map(({ receiveCount }) => receiveCount);
    };
    return { handedOut, later: (seconds: number) => void (ms += seconds * 1_000), logged };
  };

  test("comes back after half a minute, and then after a minute", async () => {
    const { handedOut, later } = await given();

    expect(await handedOut()).toEqual([1]);
    later(29);
    expect(await handedOut()).toEqual([]);
    later(1);
    expect(await handedOut()).toEqual([2]);
    later(59);
    expect(await handedOut()).toEqual([]);
    later(1);
    expect(await handedOut()).toEqual([3]);
  });

  test.each([
    ["an answer is lost before", [lostBefore]],
    ["an answer is lost after", [lostAfter]],
    ["SQS is asked too often", times(DELAYS_MS.length, refusing("ThrottlingException"))],
  ])("comes back as soon when %s", async (_case, faults) => {
    const { handedOut, later, logged } = await given(faults);
    await handedOut();

    later(30);

    expect(await handedOut()).toEqual([2]);
    expect(logged.map(({ event }) => event)).toEqual(["message_failed", "message_failed"]);
  });

  test("comes back when its visibility ends where it cannot be given back", async () => {
    const { handedOut, later, logged } = await given([refusing("AccessDenied")]);
    await handedOut();
    later(5_399);
    expect(await handedOut()).toEqual([]);
    expect(logged).toContainEqual(expect.objectContaining({ event: "give_back_failed" }));

    later(1);

    expect(await handedOut()).toEqual([2]);
  });
});
