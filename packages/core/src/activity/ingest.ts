import { findAccount } from "../accounts/accounts.ts";
import type { Worker } from "../runtime/worker.ts";
import { recordEvents } from "./record.ts";
import { parseSesMessage } from "./ses.ts";

/** A message is about one mail and takes milliseconds. If the table fails for ten minutes, no message is lost. */
export const ACTIVITY_QUEUE = {
  name: "activity",
  visibilitySeconds: 60,
  receivesMax: 12,
  concurrency: 20,
};

/**
 * Ingests the events that Amazon SES publishes. A message that cannot be parsed, or whose account does not exist, is retried
 * until it becomes a dead letter. The operator can then correct the cause and send it again.
 */
export const ingestSes: Worker = {
  queue: ACTIVITY_QUEUE,
  lambda: { batch: 10, concurrency: 10 },
  needs: ["table:readwrite", "activity"],
  async handle(world, body) {
    const { account: taggedAccount, events } = parseSesMessage(body);
    if (events.length === 0) return;
    const account = taggedAccount ?? world.settings.sesAccount;
    if (account === null) throw new Error("the mail has no account tag");
    if (!(await findAccount(world.table, account)))
      throw new Error(`there is no account ${account}`);
    const { ignored } = await recordEvents(world, { account, channel: "ses" }, events);
    if (ignored.length > 0) world.log("activity_ignored", { account, ignored });
  },
};
