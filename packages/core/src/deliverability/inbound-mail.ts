import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import type { World } from "../ports/world.ts";
import type { CheckWorld } from "./dns-lookups.ts";
import type { AcceptOutcome, MailRecipient, RecipientStatus } from "./mail-recipient.ts";
import { acceptTestMail, findTestRecipient } from "./mail-tests/accept-test-mail.ts";
import { MAIL_TEST_PREFIX } from "./mail-tests/address.ts";
import { acceptReportMail, findReportRecipient } from "./reports/accept-report-mail.ts";
import { REPORTS_PREFIX } from "./reports/reports-address.ts";

const RECIPIENTS: readonly MailRecipient[] = [
  { prefix: MAIL_TEST_PREFIX, find: findTestRecipient, accept: acceptTestMail },
  { prefix: REPORTS_PREFIX, find: findReportRecipient, accept: acceptReportMail },
];

/** Tests whether a mail to this address would be stored. The mail receiver calls it before it accepts the content. */
export const findRecipient = async (
  world: CheckWorld,
  address: string,
): Promise<RecipientStatus> => {
  const found = dispatch(world, address);
  return found ? found.recipient.find(world, found.token) : "unknown";
};

export const acceptMail = async (
  world: CheckWorld,
  address: string,
  mail: ReceivedMessage,
): Promise<AcceptOutcome> => {
  const found = dispatch(world, address);
  return found ? found.recipient.accept(world, found.token, mail) : "unknown";
};

/** Tests whether the address is at this service's domain. Mail for another domain would need relaying, which it never does. */
export const isOurDomain = ({ settings }: Pick<World, "settings">, address: string): boolean =>
  settings.mailDomain !== null &&
  address.slice(address.lastIndexOf("@") + 1).toLowerCase() === settings.mailDomain;

const dispatch = (world: Pick<World, "settings">, address: string) => {
  if (!isOurDomain(world, address)) return undefined;
  const local = address.slice(0, address.lastIndexOf("@")).toLowerCase();
  const recipient = RECIPIENTS.find(({ prefix }) => local.startsWith(prefix));
  return recipient && { recipient, token: local.slice(recipient.prefix.length) };
};
