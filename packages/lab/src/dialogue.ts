import { domainToASCII } from "node:url";
import {
  type HostBehavior,
  PLAIN_EXTENSIONS,
  type Reaction,
  type Recipient,
  type ReplyText,
} from "./host-behavior.ts";

export type MailHost = {
  readonly name: string;
  readonly address: string;
  readonly behavior: HostBehavior;
  readonly visit?: (client: string) => Visit;
};

export type Visit = {
  readonly behavior: Partial<HostBehavior>;
  readonly onClose: () => void;
};

export type LabSessionState = {
  hello: boolean;
  secure: boolean;
  sender: string | undefined;
  utf8: boolean;
  recipients: number;
  transaction: readonly Recipient[];
};

export type LabStep = {
  readonly reply?: ReplyText;
  readonly slow?: number;
  readonly next?: "hang up" | "drop" | "start TLS" | "break TLS";
};

export type GreylistMemory = {
  readonly waitedMs: (host: string, sender: string, to: string) => number;
};

export const createSessionState = (secure: boolean): LabSessionState => ({
  hello: false,
  secure,
  sender: undefined,
  utf8: false,
  recipients: 0,
  transaction: [],
});

type Command = (
  state: LabSessionState,
  parameters: string,
  host: MailHost,
  memory: GreylistMemory,
) => LabStep;

export const handleCommand = (
  state: LabSessionState,
  line: string,
  host: MailHost,
  memory: GreylistMemory,
): LabStep => {
  const [verb = "", parameters = ""] = line.trim().split(/ +(.*)/s, 2);
  const command = COMMANDS.get(verb.toUpperCase());
  return command
    ? command(state, parameters, host, memory)
    : { reply: "500 5.5.2 Command not recognized" };
};

const markGreeted = (state: LabSessionState): void => {
  state.hello = true;
  state.sender = undefined;
};

const ehlo: Command = (state, _client, { name, behavior }) => {
  if (behavior.ehlo) return { reply: behavior.ehlo };
  markGreeted(state);
  const { tls = "none", extensions: offers = PLAIN_EXTENSIONS } = behavior;
  const offersTls = tls !== "none" && !state.secure;
  return {
    reply: formatExtensions([
      `${name} at your service`,
      ...offers,
      ...(offersTls ? ["STARTTLS"] : []),
    ]),
  };
};

const helo: Command = (state, _client, { name }) => {
  markGreeted(state);
  return { reply: `250 ${name}` };
};

const startTls: Command = (state, _parameters, { behavior: { tls = "none" } }) => {
  if (tls === "none" || state.secure) return { reply: "502 5.5.1 STARTTLS not available" };
  if (tls === "refused") return { reply: "454 4.7.0 TLS not available due to a temporary reason" };
  return { reply: "220 2.0.0 Go ahead", next: tls === "broken" ? "break TLS" : "start TLS" };
};

const mail: Command = (state, line, { behavior }) => {
  const [, sender, parameters = ""] = /^FROM: *<([^>]*)>(.*)$/is.exec(line) ?? [];
  if (!state.hello) return { reply: "503 5.5.1 EHLO first" };
  if (sender === undefined) return { reply: "501 5.5.4 Syntax: MAIL FROM:<address>" };
  if (state.sender !== undefined) return { reply: "503 5.5.1 Nested MAIL command" };
  if ((behavior.tls === "required" || behavior.tls === "broken") && !state.secure)
    return { reply: "530 5.7.0 Must issue a STARTTLS command first" };
  const refusal = typeof behavior.mail === "function" ? behavior.mail() : behavior.mail;
  if (refusal !== undefined) return toStep(refusal);
  const utf8 = /\bSMTPUTF8\b/i.test(parameters);
  if (utf8 && !(behavior.extensions ?? []).includes("SMTPUTF8"))
    return { reply: "555 5.5.4 Unsupported option: SMTPUTF8" };
  state.sender = sender;
  state.transaction = [];
  state.utf8 = utf8;
  return { reply: "250 2.1.0 Ok" };
};

const rcpt: Command = (state, parameters, host, memory) => {
  const [, path] = /^TO: *<(.*)>/is.exec(parameters) ?? [];
  const { sender } = state;
  if (sender === undefined) return { reply: "503 5.5.1 Need MAIL command" };
  const to = path === undefined ? undefined : parseRecipient(path);
  if (!to) return { reply: "501 5.1.3 Bad recipient address syntax" };
  if (!state.utf8 && !isAscii(to.local))
    return { reply: "553 5.6.7 The address needs SMTPUTF8, and the sender did not ask for it" };
  state.recipients += 1;
  const earlier = state.transaction;
  state.transaction = [...earlier, to];
  const waitedMs = () => memory.waitedMs(host.name, sender, `${to.local}@${to.domain}`);
  return toStep(host.behavior.rcpt({ ...to, nth: state.recipients, earlier, waitedMs }));
};

const toStep = (reaction: Reaction): LabStep => {
  if (typeof reaction === "string") return toStep({ reply: reaction });
  // A server that replies 421 closes the connection (RFC 5321 §4.2.1).
  const { reply: say, slow = 0, hangUp = say?.startsWith("421") ?? false } = reaction;
  if (say === undefined) return { next: "drop" };
  return { reply: say, slow, ...(hangUp && { next: "hang up" }) };
};

/** Returns the local part without quotes, as mailboxes are named (RFC 5321 §4.1.2). */
const parseRecipient = (path: string): Recipient | undefined => {
  const at = path.lastIndexOf("@");
  if (at < 1 || at === path.length - 1) return undefined;
  const written = path.slice(0, at);
  const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(written)?.[1];
  if (quoted === undefined && /[\s"<>()[\]\\,;:]/.test(written)) return undefined;
  const domain = path.slice(at + 1).toLowerCase();
  return {
    local: quoted?.replaceAll(/\\(.)/gs, "$1") ?? written,
    domain: isAscii(domain) ? domain : domainToASCII(domain),
  };
};

// oxlint-disable-next-line no-control-regex -- ASCII is what it is
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

const reset: Command = (state) => {
  state.sender = undefined;
  return { reply: "250 2.0.0 Ok" };
};

const formatExtensions = (lines: readonly string[]): ReplyText =>
  lines.map((line, index) => `250${index === lines.length - 1 ? " " : "-"}${line}`).join("\n");

const alwaysReply =
  (say: ReplyText): Command =>
  () => ({ reply: say });

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["EHLO", ehlo],
  ["HELO", helo],
  ["STARTTLS", startTls],
  ["MAIL", mail],
  ["RCPT", rcpt],
  ["RSET", reset],
  ["NOOP", alwaysReply("250 2.0.0 Ok")],
  ["QUIT", () => ({ reply: "221 2.0.0 Bye", next: "hang up" })],
  ["VRFY", alwaysReply("252 2.1.5 Send some mail, and see")],
  ["EXPN", alwaysReply("502 5.5.1 Not here")],
  ["HELP", alwaysReply("214 2.0.0 A mail server of the lab, which delivers nothing")],
  // A verifier sends no message. The counters would show an attempt.
  ["DATA", alwaysReply("554 5.5.1 The lab takes no messages")],
]);
