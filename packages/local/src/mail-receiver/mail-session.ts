import type { SecureContext } from "node:tls";
import type { CheckWorld } from "@mailproof/core/deliverability/dns-lookups";
import {
  acceptMail,
  findRecipient,
  isOurDomain,
} from "@mailproof/core/deliverability/inbound-mail";
import type { AcceptOutcome } from "@mailproof/core/deliverability/mail-recipient";
import type { Budget } from "@mailproof/core/lib/budget";
import type { World } from "@mailproof/core/ports/world";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { getBlobFile } from "../storage/file-blobs.ts";
import type { MailLimits } from "./limits.ts";
import { BLOCK_BYTES, readContent } from "./mail-content.ts";
import { type MailWire, readLine, type Tls } from "./mail-wire.ts";
import { parsePath, REPLIES } from "./replies.ts";

// One SMTP session, as the server (RFC 5321), in the order of its commands. The replies are in replies.ts.

/** Every server accepts mail for postmaster, with or without its domain, in any case (RFC 5321 §4.5.1). */
const isPostmaster = ({ settings }: Pick<World, "settings">, address: string): boolean =>
  ["postmaster", `postmaster@${settings.mailDomain}`].includes(address.toLowerCase());

/** Stores the mail for some days, and logs the name of its file. The mail is never sent on. */
const keepForOperator = async (
  { blobs, log, newId }: Pick<World, "blobs" | "log" | "newId">,
  budget: Budget,
  network: string,
  { raw, ip }: ReceivedMessage,
): Promise<AcceptOutcome> => {
  if (!budget.take(network, raw.length)) return "busy";
  const key = `inbound/postmaster/${newId("txn")}`;
  await blobs.put(key, ReadableStream.from([raw]));
  log("postmaster_mail", { ip, bytes: raw.length, file: getBlobFile(key) });
  return "stored";
};

export type MailServer = {
  readonly world: CheckWorld;
  readonly name: string;
  readonly limits: MailLimits;
  readonly tls: SecureContext;
  readonly held: Budget;
  readonly postmaster: Budget;
  readonly nextTurn: () => number;
};

/** The commands of a client so far. A mail transaction ends with its message, RSET, EHLO or STARTTLS. */
export type Session = {
  readonly wire: MailWire;
  readonly ip: string;
  readonly network: string;
  helo: string | null;
  tls: Tls | undefined;
  mailFrom: string | null;
  /** Infinity when the client declared no size of the message. */
  sizeBytes: number;
  recipient: string | null;
  /** True after a refused recipient, which gives DATA another reply. */
  hasRefused: boolean;
  uselessCommands: number;
  /** The turn in which this session last came nearer to a message. */
  progressedAt: number;
};

type Context = { readonly server: MailServer; readonly session: Session };

const NO_TRANSACTION = { mailFrom: null, sizeBytes: Infinity, recipient: null, hasRefused: false };
export const NO_COMMANDS = { helo: null, tls: undefined, ...NO_TRANSACTION, uselessCommands: 0 };

type Reply = { readonly text: string; readonly isUseless?: true };

export const serveMailSession = async (server: MailServer, session: Session): Promise<void> => {
  const { wire } = session;
  const { name, limits } = server;
  await wire.write(REPLIES.greeting(name));
  for (;;) {
    const line = await readLine(wire, limits.commandBytesMax);
    if (line === undefined) return;
    const reply = await answer({ server, session }, line);
    if (!reply.isUseless) session.progressedAt = server.nextTurn();
    else if (++session.uselessCommands > limits.uselessCommandsMax)
      return wire.end(REPLIES.tooManyErrors);
    await wire.write(reply.text);
  }
};

const useless = (text: string): Reply => ({ text, isUseless: true });

const end = ({ session }: Context, lastWords: string): Reply => {
  session.wire.end(lastWords);
  return { text: "" };
};

type Command = (context: Context, argument: string) => Reply | Promise<Reply>;

const answer = async (context: Context, line: string): Promise<Reply> => {
  const [, verb = "", argument = ""] = /^([A-Za-z]*)(.*)$/s.exec(line) ?? [];
  const command = COMMANDS[verb.toUpperCase()];
  return command ? command(context, argument) : useless(REPLIES.unknownCommand);
};

const greet =
  (isExtended: boolean): Command =>
  ({ server, session }, argument) => {
    const helo = argument.trim();
    if (!/^\S{1,255}$/.test(helo)) return useless(REPLIES.helloWithoutName);
    Object.assign(session, { helo }, NO_TRANSACTION);
    const { name, limits } = server;
    return useless(
      isExtended
        ? REPLIES.extensions(name, { bytesMax: limits.messageBytesMax, offersTls: !session.tls })
        : REPLIES.hello(name),
    );
  };

const startTls: Command = async (context, argument) => {
  const { server, session } = context;
  if (argument !== "") return useless(REPLIES.noParameters);
  if (session.tls) return useless(REPLIES.tlsAlready);
  await session.wire.write(REPLIES.tlsReady);
  const tls = await session.wire.startTls(server.tls);
  // RFC 3207 §4.2: the commands before may be an attacker's.
  Object.assign(session, { tls, helo: null }, NO_TRANSACTION);
  return tls ? { text: "" } : end(context, "");
};

const begin: Command = ({ server, session }, argument) => {
  if (session.helo === null) return useless(REPLIES.helloFirst);
  if (session.mailFrom !== null) return useless(REPLIES.nestedMail);
  const path = parsePath("FROM", argument);
  if (!path) return useless(REPLIES.badSender);
  let sizeBytes = Infinity;
  for (const [name, value] of path.parameters) {
    if (name === "SIZE" && /^\d{1,20}$/.test(value)) {
      sizeBytes = Number(value);
      if (sizeBytes > server.limits.messageBytesMax) return useless(REPLIES.tooLarge);
    } else if (name === "BODY" && /^(?:7BIT|8BITMIME)$/i.test(value)) continue;
    else if (name === "SMTPUTF8" && value === "") continue;
    else return useless(REPLIES.badParameter);
  }
  Object.assign(session, { mailFrom: path.address, sizeBytes });
  return { text: REPLIES.senderOk };
};

const OUTCOME_REPLIES = {
  unknown: REPLIES.unknownRecipient,
  expired: REPLIES.expiredRecipient,
  used: REPLIES.usedRecipient,
  busy: REPLIES.busyRecipient,
  unreadable: REPLIES.unreadable,
  failed: REPLIES.localError,
} as const;

const addRecipient: Command = async ({ server: { world }, session }, argument) => {
  if (session.mailFrom === null) return useless(REPLIES.mailFirst);
  const path = parsePath("TO", argument);
  if (!path || path.address === "") return useless(REPLIES.badRecipient);
  const { address, parameters } = path;
  if (parameters.length > 0) return useless(REPLIES.badParameter);
  if (session.recipient !== null) return useless(REPLIES.oneRecipient);
  const isForPostmaster = isPostmaster(world, address);
  if (!isForPostmaster && !isOurDomain(world, address)) return refuse(session, REPLIES.noRelay);
  const status = isForPostmaster ? "open" : await orFailed(world, findRecipient(world, address));
  if (status === "failed") return useless(REPLIES.localError);
  if (status !== "open") return refuse(session, OUTCOME_REPLIES[status]);
  session.recipient = address;
  return { text: REPLIES.recipientOk };
};

const refuse = (session: Session, text: string): Reply => {
  session.hasRefused = true;
  return useless(text);
};

/** "failed": this server cannot decide now, so the client tries again later. */
const orFailed = <T>(world: CheckWorld, promise: Promise<T>): Promise<T | "failed"> =>
  promise.catch((cause: unknown) => {
    world.log("mail_deferred", { cause });
    return "failed";
  });

const receive: Command = async (context, argument) => {
  const { server, session } = context;
  const { wire, helo, mailFrom, recipient, tls, hasRefused, sizeBytes, ip, network } = session;
  const { world, limits } = server;
  if (argument !== "") return useless(REPLIES.noParameters);
  if (helo === null || mailFrom === null) return useless(REPLIES.mailFirst);
  if (recipient === null) return useless(hasRefused ? REPLIES.noValidRecipient : REPLIES.rcptFirst);
  // A client that sends content before the go-ahead would have sent it as commands after a refusal.
  if (wire.hasUnread()) return end(context, REPLIES.improperPipelining);
  const heldBytes = 2 * BLOCK_BYTES + Math.min(sizeBytes, limits.arrivingBytesMax);
  const hold = server.held.take(network, heldBytes);
  if (!hold) return useless(REPLIES.noRoom);
  await wire.write(REPLIES.sendData);
  Object.assign(session, NO_TRANSACTION);
  try {
    const onProgress = () => void (session.progressedAt = server.nextTurn());
    const arrival = { wire, limits, world, hold, heldBytes, onProgress };
    const read = await orFailed(world, readContent(arrival));
    // The server does not read the remaining bytes of a message that it cannot store.
    if (read === "failed") return end(context, REPLIES.localError);
    const { raw, isWhole, refusal } = read;
    if (!isWhole) return end(context, "");
    if (refusal !== undefined) return useless(refusal);
    const mail = { raw, mailFrom, helo, ip, ...(tls && { tls }), receivedAt: world.now() };
    const accepting = isPostmaster(world, recipient)
      ? keepForOperator(world, server.postmaster, network, mail)
      : acceptMail(world, recipient, mail);
    // The server replies 250 only when the message is stored: from then on we are responsible for it.
    const outcome = await orFailed(world, accepting);
    if (outcome !== "stored") return useless(OUTCOME_REPLIES[outcome]);
    session.uselessCommands = 0;
    return { text: REPLIES.stored };
  } finally {
    hold.giveBack();
  }
};

const COMMANDS: Readonly<Record<string, Command>> = {
  EHLO: greet(true),
  HELO: greet(false),
  STARTTLS: startTls,
  MAIL: begin,
  RCPT: addRecipient,
  DATA: receive,
  RSET: ({ session }) => {
    Object.assign(session, NO_TRANSACTION);
    return useless(REPLIES.ok);
  },
  NOOP: () => useless(REPLIES.ok),
  // RFC 5321 §4.5.1 requires VRFY; the reply reveals nothing.
  VRFY: () => useless(REPLIES.notVerified),
  HELP: () => useless(REPLIES.help),
  QUIT: (context) => end(context, REPLIES.bye),
};
