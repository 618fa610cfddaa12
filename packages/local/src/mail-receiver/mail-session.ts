import type { AcceptOutcome, RecipientStatus } from "@mailproof/core/deliverability/mail-recipient";
import type { ReceivedMessage } from "@mailproof/core/deliverability/message/received-message";
import type { MailLimits } from "./limits.ts";
import type { Budget, MailWire, Tls } from "./mail-wire.ts";
import { parsePath, REPLIES } from "./replies.ts";

// One SMTP session, as the server (RFC 5321). The order of the commands is the order of this file; the replies are in
// replies.ts.

export type MailServer = {
  /** How the server names itself. */
  readonly name: string;
  readonly limits: MailLimits;
  readonly budget: Budget;
  readonly now: () => Date;
  readonly isOurs: (address: string) => boolean;
  /** Both throw when this server cannot tell, so that the client tries again later. */
  readonly findRecipient: (address: string) => Promise<RecipientStatus>;
  readonly acceptMail: (address: string, mail: ReceivedMessage) => Promise<AcceptOutcome>;
  readonly startTls: (wire: MailWire) => Promise<Tls | undefined>;
  readonly onFailure: (cause: unknown) => void;
  /** True: sessions are interrupted because the server stops. */
  readonly isStopping: () => boolean;
};

/** The commands of a client so far. A mail transaction ends with its message, RSET, EHLO or STARTTLS. */
type Session = {
  helo: string | null;
  tls: Tls | undefined;
  mailFrom: string | null;
  recipient: string | null;
  /** A recipient was refused: then DATA has another reply. */
  hasRefused: boolean;
  uselessCommands: number;
};

type Context = {
  readonly wire: MailWire;
  readonly server: MailServer;
  readonly session: Session;
  readonly ip: string;
};

/** `closes`: the connection ends after this reply. */
type Reply = { readonly text: string; readonly closes?: true; readonly isUseless?: true };

/** Serves the session until one of both sides ends it. */
export const serveMailSession = async (
  wire: MailWire,
  server: MailServer,
  ip: string,
): Promise<void> => {
  const session: Session = { helo: null, tls: undefined, ...NO_TRANSACTION, uselessCommands: 0 };
  const context = { wire, server, session, ip };
  await wire.write(REPLIES.greeting(server.name));
  for (;;) {
    const read = await wire.readLine(server.limits.commandBytesMax);
    const reply =
      "fault" in read ? replyToFault(server, read.fault) : await answer(context, read.line);
    if (reply.isUseless) session.uselessCommands += 1;
    const isTooMuch = session.uselessCommands > server.limits.uselessCommandsMax;
    await wire.write(isTooMuch ? REPLIES.tooManyErrors : reply.text);
    if (isTooMuch || reply.closes) return;
  }
};

const NO_TRANSACTION = { mailFrom: null, recipient: null, hasRefused: false } as const;

/** After such a line the next one may be an attacker's, inside of a message. */
const FAULT_REPLIES = {
  closed: "",
  too_long: REPLIES.lineTooLong,
  bare: REPLIES.bareLineEnd,
} as const;

const replyToFault = (
  { isStopping }: MailServer,
  fault: keyof typeof FAULT_REPLIES | "interrupted",
): Reply => {
  const interruption = isStopping() ? REPLIES.stopping : REPLIES.timedOut;
  return { text: fault === "interrupted" ? interruption : FAULT_REPLIES[fault], closes: true };
};

const useless = (text: string): Reply => ({ text, isUseless: true });

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

const startTls: Command = async ({ wire, server, session }, argument) => {
  if (argument !== "") return useless(REPLIES.noParameters);
  if (session.tls) return useless(REPLIES.tlsAlready);
  await wire.write(REPLIES.tlsReady);
  const tls = await server.startTls(wire);
  // RFC 3207 §4.2: the commands before may be an attacker's.
  Object.assign(session, { tls, helo: null }, NO_TRANSACTION);
  return tls ? { text: "" } : { text: "", closes: true };
};

const begin: Command = ({ server, session }, argument) => {
  if (session.helo === null) return useless(REPLIES.helloFirst);
  if (session.mailFrom !== null) return useless(REPLIES.nestedMail);
  const path = parsePath("FROM", argument);
  if (!path) return useless(REPLIES.badSender);
  for (const [name, value] of path.parameters) {
    if (name === "SIZE" && /^\d{1,20}$/.test(value)) {
      if (Number(value) > server.limits.messageBytesMax) return useless(REPLIES.tooLarge);
    } else if (name === "BODY" && /^(?:7BIT|8BITMIME)$/i.test(value)) continue;
    else if (name === "SMTPUTF8" && value === "") continue;
    else return useless(REPLIES.badParameter);
  }
  session.mailFrom = path.address;
  return { text: REPLIES.senderOk };
};

const RECIPIENT_REPLIES: Readonly<Record<Exclude<RecipientStatus, "open">, string>> = {
  unknown: REPLIES.unknownRecipient,
  expired: REPLIES.expiredRecipient,
  used: REPLIES.usedRecipient,
};

const ACCEPT_REPLIES: Readonly<Record<Exclude<AcceptOutcome, "stored">, string>> = {
  ...RECIPIENT_REPLIES,
  busy: REPLIES.busyRecipient,
  unreadable: REPLIES.unreadable,
};

const addRecipient: Command = async ({ server, session }, argument) => {
  if (session.mailFrom === null) return useless(REPLIES.mailFirst);
  const path = parsePath("TO", argument);
  if (!path || path.address === "") return useless(REPLIES.badRecipient);
  if (path.parameters.length > 0) return useless(REPLIES.badParameter);
  if (session.recipient !== null) return useless(REPLIES.oneRecipient);
  if (!server.isOurs(path.address)) return refuse(session, REPLIES.noRelay);
  const status = await server.findRecipient(path.address).catch((cause: unknown) => {
    server.onFailure(cause);
    return "failed" as const;
  });
  if (status === "failed") return useless(REPLIES.localError);
  if (status !== "open") return refuse(session, RECIPIENT_REPLIES[status]);
  session.recipient = path.address;
  return { text: REPLIES.recipientOk };
};

const refuse = (session: Session, text: string): Reply => {
  session.hasRefused = true;
  return useless(text);
};

const receive: Command = async (context, argument) => {
  const { wire, server, session } = context;
  const { helo, mailFrom, recipient, tls, hasRefused } = session;
  if (argument !== "") return useless(REPLIES.noParameters);
  if (helo === null || mailFrom === null) return useless(REPLIES.mailFirst);
  if (recipient === null) return useless(hasRefused ? REPLIES.noValidRecipient : REPLIES.rcptFirst);
  // A client that sends content before the go-ahead would have sent it as commands after a refusal.
  if (wire.hasUnread()) return { text: REPLIES.improperPipelining, closes: true };
  await wire.write(REPLIES.sendData);
  const read = await wire.readData(server.limits.messageBytesMax, server.budget);
  Object.assign(session, NO_TRANSACTION);
  if ("data" in read) {
    const envelope = { mailFrom, helo, ip: context.ip, ...(tls && { tls }) };
    return accept(context, { recipient, envelope }, read.data).finally(read.release);
  }
  return read.fault === "too_large" || read.fault === "no_room"
    ? useless(DATA_REPLIES[read.fault])
    : replyToFault(server, read.fault);
};

type Transaction = {
  readonly recipient: string;
  readonly envelope: Omit<ReceivedMessage, "raw" | "receivedAt">;
};

/** 250 only when the message is stored: from then on it is ours to keep. */
const accept = async (
  { server, session }: Context,
  { recipient, envelope }: Transaction,
  data: Buffer,
): Promise<Reply> => {
  if (hasBareLineEnd(data)) return useless(REPLIES.bareInData);
  const mail = { ...envelope, raw: unstuff(data), receivedAt: server.now() };
  const outcome = await server.acceptMail(recipient, mail).catch((cause: unknown) => {
    server.onFailure(cause);
    return "failed" as const;
  });
  if (outcome === "failed") return useless(REPLIES.localError);
  if (outcome !== "stored") return useless(ACCEPT_REPLIES[outcome]);
  session.uselessCommands = 0;
  return { text: REPLIES.stored };
};

const DATA_REPLIES = { too_large: REPLIES.tooLarge, no_room: REPLIES.noRoom } as const;

const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;

/** A CR or a LF alone, which other servers take for the end of a line (RFC 5321 §2.3.8). */
const hasBareLineEnd = (data: Buffer): boolean => {
  for (let at = data.indexOf(LF); at !== -1; at = data.indexOf(LF, at + 1))
    if (at === 0 || data[at - 1] !== CR) return true;
  for (let at = data.indexOf(CR); at !== -1; at = data.indexOf(CR, at + 1))
    if (data[at + 1] !== LF) return true;
  return false;
};

/** RFC 5321 §4.5.2: of a line that begins with a dot, the first dot was added by the client. */
const unstuff = (data: Buffer): Buffer => {
  const pieces: Buffer[] = [];
  let from = data[0] === DOT ? 1 : 0;
  for (let at = data.indexOf("\r\n.", 0); at !== -1; at = data.indexOf("\r\n.", at + 3)) {
    pieces.push(data.subarray(from, at + 2));
    from = at + 3;
  }
  return from === 0 ? data : Buffer.concat([...pieces, data.subarray(from)]);
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
  // RFC 5321 §4.5.1 requires it; it tells nothing.
  VRFY: () => useless(REPLIES.notVerified),
  HELP: () => useless(REPLIES.help),
  QUIT: () => ({ text: REPLIES.bye, closes: true }),
};
