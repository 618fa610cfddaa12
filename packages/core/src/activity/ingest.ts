import { findAccount } from "../accounts/accounts.ts";
import type { Worker } from "../runtime/worker.ts";
import { recordEvents } from "./record.ts";
import { parseSesMessage } from "./ses.ts";

/** A message tells of one mail, and is done in a moment. A table that is away for ten minutes spoils none. */
export const ACTIVITY_QUEUE = {
  name: "activity",
  visibilitySeconds: 60,
  receivesMax: 12,
  concurrency: 20,
};

/**
 * Takes in what Amazon SES publishes. What nobody can read, or nobody's account is named in, comes back until it goes
 * to the dead letters, alone; there it waits for a person, for it may be set right and told again.
 */
export const ingestSes: Worker = {
  queue: ACTIVITY_QUEUE,
  async handle(world, body) {
    const { account: taggedAccount, events } = parseSesMessage(body);
    if (events.length === 0) return;
    const account = taggedAccount ?? world.settings.sesAccount;
    if (account === null) throw new Error("the mail has no tag that says whose it is");
    if (!(await findAccount(world.table, account)))
      throw new Error(`there is no account ${account}`);
    const { ignored } = await recordEvents(world, { account, channel: "ses" }, events);
    if (ignored.length > 0) world.log("activity_ignored", { account, ignored });
  },
};
