import { createHash } from "node:crypto";
import { getAccountStatus } from "../accounts/account-items.ts";
import { findAccount } from "../accounts/accounts.ts";
import { decryptSecret } from "../lib/secret-box.ts";
import { addMs, DAY_MS, MINUTE_MS, toEpochSeconds, toUtcDay } from "../lib/time.ts";
import { readInvitation, toInviteMirrorKey } from "../people/items.ts";
import { findMember, findPerson } from "../people/members.ts";
import { findItem, type Item, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { acquireLease, readScheduledWork } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import {
  createMail,
  type Letter,
  MAIL,
  MAILS_QUEUE,
  type Mail,
  readMail,
  toMailKey,
  toMailsKey,
} from "../webhooks/mail-items.ts";
import { getNextAttempt, RETRY_WINDOW_MS } from "../webhooks/retry-policy.ts";
import { readWakeUp, sendWakeUps } from "../webhooks/wake-ups.ts";
import { address } from "./address-mail.ts";
import { toOutgoingMail } from "./render.ts";
import { writeInvitation } from "./texts.ts";
import { signMailToken } from "./unsubscribe.ts";

// Handles a mail in two steps. An event or a Monday letter becomes a letter for each recipient (address-mail.ts), in the
// transaction that removes it. A letter or an invitation is sent and then removed, so a crash between the two sends it again,
// with the same Message-ID; anything else leaves it to one worker by its token.

export const sendMail: Worker = {
  queue: MAILS_QUEUE,
  lambda: { batch: 1, concurrency: 2 },
  needs: ["table:readwrite", "queue:send", "cursor", "seal", "relay"],
  async handle(world, body) {
    const { id, token } = readWakeUp(body);
    const item = await world.table.get(toMailKey(id));
    if (item?.["token"] !== token) return;
    const leased = await acquireLease(world, item, LEASE_MS);
    if (leased) await handleMail(world, leased);
  },
  // The mail is scheduled, so the reconciler sends its message again.
  giveUp: {
    needs: ["table:readwrite", "cursor", "seal"],
    handle: async (world, body) => world.log("mail_postponed", { mail: readWakeUp(body).id }),
  },
};

/** The relay has a minute; the reads for a Monday letter take seconds. */
const LEASE_MS = 5 * MINUTE_MS;

/** The lease is ours while the mail contains our token. */
type LeasedMail = { readonly mail: Mail; readonly token: string };

const handleMail = async (world: World, item: Item): Promise<void> => {
  const leased: LeasedMail = { mail: readMail(item), token: readScheduledWork(item).token };
  const { mail } = leased;
  const { mailFrom } = world.settings;
  const isOld = addMs(new Date(mail.createdAt), RETRY_WINDOW_MS + DAY_MS) < world.now();
  if (mailFrom === null || isOld) return giveUp(world, leased, "");
  const { content, account } = mail;
  if (content.kind === "event" || content.kind === "week") {
    const { letter, people } = await address(world, account, content);
    const letters = people.map((person) =>
      createMail(world, account, { kind: "letter", person, letter }, content.kind === "week"),
    );
    await removeMail(world, leased, letters);
  } else await attempt(world, leased, mailFrom);
};

/** Removes the mail, together with writes that replace it. */
const removeMail = async (
  world: World,
  { mail, token }: LeasedMail,
  also: readonly ReturnType<typeof createMail>[] = [],
): Promise<void> => {
  const { outcome } = await commit(world, {
    proof: null,
    also: [{ remove: toMailKey(mail.id), where: { token } }, ...also],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the mail was removed");
};

const describe = ({ mail: { id, account, content } }: LeasedMail) => ({
  mail: id,
  account,
  kind: content.kind,
});

const attempt = async (world: World, leased: LeasedMail, from: string): Promise<void> => {
  const ready = await prepare(world, leased.mail);
  if (!ready) return removeMail(world, leased);
  const { to, letter, links } = ready;
  const date = new Date(leased.mail.createdAt);
  const outgoing = toOutgoingMail(leased.mail, letter, links, { from, to, date });
  if (!outgoing || !(await isWithinLimits(world, leased, to))) {
    world.log("mail_capped", describe(leased));
    return removeMail(world, leased);
  }
  const { kind, reply } = await world.mailer.send(outgoing);
  if (kind === "failed") return scheduleRetry(world, leased, reply);
  if (kind === "sent") world.log("mail_sent", describe(leased));
  else world.log("mail_refused", { ...describe(leased), ...readStatus(reply) });
  await removeMail(world, leased);
};

/** The relay's text may contain the address, so only its codes are logged (RFC 3463). */
const readStatus = (reply: string) => ({
  status: /^\d{3}(?: \d\.\d{1,3}\.\d{1,3})?/.exec(reply)?.[0] ?? "none",
});

const giveUp = async (world: World, leased: LeasedMail, reply: string): Promise<void> => {
  world.log("mail_given_up", { ...describe(leased), ...readStatus(reply) });
  await removeMail(world, leased);
};

const scheduleRetry = async (world: World, leased: LeasedMail, reply: string): Promise<void> => {
  const { mail, token } = leased;
  const now = world.now();
  const attempts = mail.attempts + 1;
  const triedSince = mail.triedSince ?? now.toISOString();
  const next = getNextAttempt(
    { attempts, triedSince: new Date(triedSince) },
    { now, random: world.random, earliestMs: 0 },
  );
  if (!next) return giveUp(world, leased, reply);
  world.log("mail_retried", { mail: mail.id, attempts, ...readStatus(reply) });
  const nextTryAt = next.toISOString();
  const newToken = world.newId("txn");
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      {
        update: toMailKey(mail.id),
        set: { attempts, triedSince, nextTryAt, due_sk: nextTryAt, token: newToken },
        where: { token },
      },
    ],
  });
  if (outcome !== "committed") return;
  const wakeUp = { id: mail.id, token: newToken, owner: mail.account };
  await sendWakeUps(world, MAILS_QUEUE, [wakeUp], next.getTime() - now.getTime());
};

type Ready = {
  readonly to: string;
  readonly letter: Letter;
  readonly links: Parameters<typeof toOutgoingMail>[2];
};

/** Reads the recipient before each attempt. Undefined when nobody wants the mail any more. */
const prepare = async (
  world: World,
  { account: id, content }: Mail,
): Promise<Ready | undefined> => {
  const account = await findAccount(world.table, id);
  if (!account || getAccountStatus(account) !== "active") return undefined;
  const base = world.settings.publicUrl ?? "";
  if (content.kind === "invitation") {
    const key = toInviteMirrorKey({ account: id, id: content.invitation });
    const invitation = await findItem(world.table, key, readInvitation);
    const token = decryptSecret(world, id, content.secret);
    if (!invitation?.email || token === undefined) return undefined;
    const url = `${base}/app/link#${token}`;
    const why = "You get this mail because somebody entered your address in an invitation.";
    const letter = writeInvitation(account.name, invitation.role);
    return { to: invitation.email, letter, links: { url, why, end: null } };
  }
  if (content.kind !== "letter") return undefined;
  const [person, member] = await Promise.all([
    findPerson(world.table, content.person),
    findMember(world.table, id, content.person),
  ]);
  if (!person?.email || person.noMail || !member) return undefined;
  const token = signMailToken(world.settings, person.id);
  const links = {
    url: `${base}/app/${content.letter.screen}`,
    why: "You get this mail as a member of an account of Mailproof.",
    end: {
      page: `${base}/app/mail#${token}`,
      oneClick: `${base}/v1/mail/unsubscribe?token=${token}`,
    },
  };
  return { to: person.email, letter: content.letter, links };
};

/** The most mails of a day (UTC) of one account, and to one address. */
const MAILS_PER_DAY = 20;

const isWithinLimits = async (
  world: World,
  { mail, token }: LeasedMail,
  to: string,
): Promise<boolean> => {
  if (mail.isCounted) return true;
  const now = world.now();
  const count = (subject: string): Write => ({
    update: toMailsKey(subject, toUtcDay(now)),
    add: { sent: 1 },
    bounds: { sent: { atMost: MAILS_PER_DAY } },
    set: { expires_at: toEpochSeconds(addMs(now, 2 * DAY_MS)) },
    orCreate: true,
  });
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      { update: toMailKey(mail.id), set: { isCounted: true }, where: { token } },
      count(mail.account),
      count(createHash("sha256").update(to.toLowerCase()).digest("base64url")),
    ],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the mail was counted");
  return outcome === "committed";
};

const repairMail = async (world: World, item: Item): Promise<string> => {
  const { id, account } = readMail(item);
  const { token } = readScheduledWork(item);
  await sendWakeUps(world, MAILS_QUEUE, [{ id, token, owner: account }]);
  return "sent_on";
};

export const mailWork: WorkKind = {
  kind: MAIL,
  repair: repairMail,
  // The last attempt is a day after the first, and the reconciler waits another minute for its message.
  longestWaitMs: RETRY_WINDOW_MS + MINUTE_MS,
  deferredUntil: (item) => item["nextTryAt"],
};
