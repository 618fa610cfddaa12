import { readAddress } from "@mailproof/mail/address-cell";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { hashAddress } from "../../accounts/hashes.ts";
import { addMs, MINUTE_MS } from "../../lib/time.ts";
import { toQueueGroup } from "../../money/payer.ts";
import type { World } from "../../ports/world.ts";
import { commit } from "../../runtime/commit.ts";
import type { AcceptOutcome, RecipientStatus } from "../mail-recipient.ts";
import { toMailTestId } from "./address.ts";
import { findMailTest, type MailTest, toMailItem, toMailTestKey, toStoredMail } from "./items.ts";
import { MAIL_TESTS_QUEUE } from "./queue.ts";

/** If its message is lost, the test becomes due five minutes later and the message is sent again. */
const RESEND_AFTER_MS = 5 * MINUTE_MS;

export const findTestRecipient = async (world: World, token: string): Promise<RecipientStatus> =>
  getStatus(await findMailTest(world.table, toMailTestId(token)), world.now());

const getStatus = (test: MailTest | undefined, now: Date): RecipientStatus => {
  // A test key gets a simulated mail, so its address accepts no real one.
  if (!test || test.mode === "test") return "unknown";
  if (test.status === "waiting")
    return Date.parse(test.openUntil) > now.getTime() ? "open" : "expired";
  return test.status === "expired" ? "expired" : "used";
};

export const acceptTestMail = async (
  world: World,
  token: string,
  mail: ReceivedMessage,
): Promise<AcceptOutcome> => {
  const test = await findMailTest(world.table, toMailTestId(token));
  const status = getStatus(test, world.now());
  if (status !== "open") return status;
  return test ? storeTestMail(world, test, mail) : "unknown";
};

/**
 * Stores the body, then the envelope with the test's state in one transaction, so the first of two mails wins. Throws when the
 * outcome is uncertain. The retention of a day deletes an unused body.
 */
export const storeTestMail = async (
  world: World,
  { id, owner }: MailTest,
  mail: ReceivedMessage,
): Promise<AcceptOutcome> => {
  const blob = `mail/${id}/${world.newId("txn")}`;
  await world.blobs.put(blob, toContent(mail.raw));
  const sender = hashAddress(world, owner, readAddress(mail.mailFrom).canonical);
  const message = { body: { test: id }, ...toQueueGroup(owner) };
  const { outcome } = await commit(world, {
    proof: {
      create: toMailItem(toStoredMail(id, blob, mail), sender),
      sends: { queue: MAIL_TESTS_QUEUE.name, message },
    },
    also: [
      {
        update: toMailTestKey(id),
        set: {
          status: "assessing",
          receivedAt: mail.receivedAt.toISOString(),
          sends: 1,
          due_sk: addMs(world.now(), RESEND_AFTER_MS).toISOString(),
        },
        where: { status: "waiting" },
      },
    ],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the mail was stored");
  return outcome === "committed" ? "stored" : "used";
};

async function* toContent(raw: Uint8Array): AsyncGenerator<Uint8Array> {
  yield raw;
}
