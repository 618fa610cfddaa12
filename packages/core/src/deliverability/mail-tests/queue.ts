import { toQueueGroup } from "../../money/payer.ts";
import type { World } from "../../ports/world.ts";
import type { MailTest } from "./items.ts";

/** The assessment waits for DNS queries, some of them to slow servers; meanwhile the queue must not deliver the message again. */
export const MAIL_TESTS_QUEUE = {
  name: "mail-tests",
  visibilitySeconds: 180,
  receivesMax: 5,
  concurrency: 20,
};

/** Ignores a failure: the test stays due until its mail is assessed. */
export const sendMailTest = async (
  { queue }: Pick<World, "queue">,
  { id, owner }: Pick<MailTest, "id" | "owner">,
): Promise<void> => {
  await queue.sendMany(MAIL_TESTS_QUEUE.name, [{ body: { test: id }, ...toQueueGroup(owner) }]);
};
