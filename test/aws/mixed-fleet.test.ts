import { expect, test } from "vitest";
import { whenQuiet } from "../app/drain-queues.ts";
import { listOutboxEvents, readCredits } from "../app/ledger.ts";
import { CURRENT, findReleaseAbsence, loadLastRelease } from "../app/release.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { HOOK, verifyCall } from "../things/webhooks.ts";
import type { Errand } from "./errand.ts";
import {
  cancelBatch,
  exportFile,
  find,
  sendBatch,
  sendFile,
  sendForm,
  verifyOne,
} from "./errands-addresses.ts";
import {
  check,
  monitor,
  recordActivity,
  testMail,
  uploadReport,
  useKeys,
} from "./errands-domains.ts";
import { type Fleet, givenFleet } from "./fleet.ts";

// Goal: whichever of two releases gets a request or a message during a deployment, customers notice nothing.
// Method: the whole journey over the emulators, its steps in a drawn order and each by a drawn release.

const ERRANDS: readonly Errand[] = [
  verifyOne("valid", 1),
  verifyOne("invalid", 1),
  verifyOne("greylisted", 1),
  verifyOne("slow", 1),
  verifyOne("blocked", 0),
  sendBatch,
  cancelBatch,
  sendFile,
  sendForm,
  exportFile,
  find,
  check,
  monitor,
  useKeys,
  recordActivity,
  testMail,
  uploadReport,
];

const MINUTE_MS = 60_000;
const STEPS_MAX = 800;

/** Takes a step of one errand or another until all are done. Returns what they cost together. */
const runErrands = async (fleet: Fleet): Promise<number> => {
  const { chance, drawOne, work, reconcile, later } = fleet;
  const open = ERRANDS.map((errand, at) => errand(fleet, `errand-${at}`));
  let price = 0;
  for (let step = 0; open.length > 0; step++) {
    if (step > STEPS_MAX) throw new Error(`${open.length} errands never end`);
    const errand = drawOne(open);
    const { done, value } = await errand.next();
    if (done) open.splice(open.indexOf(errand), 1);
    price += done ? value : 0;
    if (chance() < 0.4) await work();
    if (chance() < 0.2) later(MINUTE_MS);
    if (chance() < 0.2) await reconcile();
  }
  return price;
};

const FAILURES: readonly string[] = ["failure", "message_failed", "repair_failed", "row_failed"];

describeUnless(findReleaseAbsence(), "beside the last release", () => {
  test.each([1, 2])(
    "the journey is one journey, at its price, and leaves nothing behind: seed %i",
    async (seed) => {
      const last = await loadLastRelease();
      const fleet = await givenFleet(seed, [last, CURRENT]);
      const subscription = { url: HOOK, events: ["job.completed"] };
      const { data } = await fleet.ask("POST /v1/webhooks", { body: subscription });

      const price = await runErrands(fleet);
      await whenQuiet(fleet);

      expect(fleet.wrong).toEqual([]);
      expect(fleet.served).toEqual(new Set([last.name, CURRENT.name]));
      expect(await readCredits(fleet)).toMatchObject({
        available: fleet.opening - price,
        held: 0,
      });
      expect((await fleet.audit()).map(({ ok }) => ok)).toEqual([true, true]);
      expect(await fleet.queue.countDeadLetters()).toBe(0);
      expect(fleet.logged.filter(({ event }) => FAILURES.includes(event))).toEqual([]);
      const calls = fleet.servers.received.filter(({ url }) => url === HOOK);
      const reported = new Set(calls.map(({ headers }) => headers["webhook-id"]));
      expect(reported.size).toBe(listOutboxEvents(fleet).length);
      for (const call of calls) verifyCall(data.secret, call);
    },
  );
});
