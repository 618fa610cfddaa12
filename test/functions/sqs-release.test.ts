import type { Worker } from "@mailproof/core/runtime/worker";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { createReleaseMessage } from "@mailproof/functions/aws/sqs-release";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createContext, createSqsEvent } from "../aws/events.ts";
import {
  injectFaults,
  loseAfter,
  loseBefore,
  RETRY_DELAYS_MS,
  refuseWith,
  repeatFault,
} from "../aws/faults.ts";
import { createQueues } from "../aws/resources.ts";
import { createSqsReceiving } from "../aws/sqs-receiving.ts";
import { describeWith } from "../runner/describe-when.ts";

// As long as on AWS, where a message stays hidden for six times what its worker may take.
const chunks = { name: "chunks", visibilitySeconds: 5_400, receivesMax: 5, concurrency: 10 };
const failing: Worker = {
  needs: [],
  lambda: { batch: 1, concurrency: 1 },
  queue: chunks,
  handle: () => Promise.reject(new Error("this cannot be done")),
};

describeWith(DYNAMODB, "a message whose handling fails", () => {
  const given = async (faults: Parameters<typeof injectFaults>[1] = []) => {
    let ms = Date.UTC(2026, 10, 21);
    const now = () => new Date(ms);
    const sound = await createEmulatedAws({ now });
    const urls = await createQueues(sound, [chunks]);
    const receiving = createSqsReceiving(sound, async () => urls);
    const faulty = await createEmulatedAws({
      now,
      between: injectFaults("ChangeMessageVisibility", faults),
    });
    const { world, logged } = givenWorld();
    const work = createQueueHandler(failing, world, createReleaseMessage(faulty));
    const name = urls["chunks"]?.split("/").at(-1) ?? "";
    await createSqsQueue(sound, urls).sendMany("chunks", [{ body: 1 }]);
    /** How often it was handed out, when a worker asks for messages and fails with those it gets. */
    const createHandedOut = async () => {
      const received = await receiving.receive(chunks, { waitMs: 0 });
      await work(createSqsEvent(name, received), createContext());
      return received.map(({ receiveCount }) => receiveCount);
    };
    return {
      handedOut: createHandedOut,
      later: (seconds: number) => void (ms += seconds * 1_000),
      logged,
    };
  };

  test("a failed message returns after half a minute and then after a minute", async () => {
    const { handedOut: createHandedOut, later } = await given();

    expect(await createHandedOut()).toEqual([1]);
    later(29);
    expect(await createHandedOut()).toEqual([]);
    later(1);
    expect(await createHandedOut()).toEqual([2]);
    later(59);
    expect(await createHandedOut()).toEqual([]);
    later(1);
    expect(await createHandedOut()).toEqual([3]);
  });

  test.each([
    ["an answer is lost before the release", [loseBefore]],
    ["an answer is lost after the release", [loseAfter]],
    ["SQS throttles", repeatFault(RETRY_DELAYS_MS.length, refuseWith("ThrottlingException"))],
  ])("a failed message returns equally soon when %s", async (_case, faults) => {
    const { handedOut: createHandedOut, later, logged } = await given(faults);
    await createHandedOut();

    later(30);

    expect(await createHandedOut()).toEqual([2]);
    expect(logged.map(({ event }) => event)).toEqual(["message_failed", "message_failed"]);
  });

  test("a failed message that cannot be released returns when its visibility ends", async () => {
    const { handedOut: createHandedOut, later, logged } = await given([refuseWith("AccessDenied")]);
    await createHandedOut();
    later(5_399);
    expect(await createHandedOut()).toEqual([]);
    expect(logged).toContainEqual(expect.objectContaining({ event: "give_back_failed" }));

    later(1);

    expect(await createHandedOut()).toEqual([2]);
  });
});
