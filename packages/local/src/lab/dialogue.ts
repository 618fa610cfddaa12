import { domainToASCII } from "node:url";
import { type Manner, PLAIN, type Reaction, type Said } from "./manner.ts";

export type MailHost = {
  readonly name: string;
  readonly address: string;
  readonly manner: Manner;
};

/** Where one session stands. */
export type State = {
  hello: boolean;
  secure: boolean;
  sender: string | undefined;
  utf8: boolean;
  asked: number;
};

export type Step = {
  readonly say?: Said;
  readonly slow?: number;
  readonly next?: "hang up" | "drop" | "start TLS" | "break TLS";
};

/** What a host knows beyond the session: since when a sender waits for a recipient. */
export type Memory = { readonly waitedMs: (host: string, sender: string, to: string) => number };

export const newState = (secure: boolean): State => ({
  hello: false,
  secure,
  sender: undefined,
  utf8: false,
  asked: 0,
});

type Command = (state: State, rest: string, host: MailHost, memory: Memory) => Step;

/** The host's answer to one line of the client. */
export const answer = (state: State, line: string, host: MailHost, memory: Memory): Step => {
  const [verb = "", rest = ""] = line.trim().split(/ +(.*)/s, 2);
  const command = COMMANDS.get(verb.toUpperCase());
  return command ? command(state, rest, host, memory) : { say: "500 5.5.2 Command not recognized" };
};

const begin = (state: State): void => {
  state.hello = true;
  state.sender = undefined;
};

const ehlo: Command = (state, _client, { name, manner }) => {
  if (manner.ehlo) return { say: manner.ehlo };
  begin(state);
  const { tls = "none", offers = PLAIN } = manner;
  const offersTls = tls !== "none" && !state.secure;
  return {
    say: listed([`${name} at your service`, ...offers, ...(offersTls ? ["STARTTLS"] : [])]),
  };
};

const helo: Command = (state, _client, { name }) => {
  begin(state);
  return { say: `250 ${name}` };
};

const startTls: Command = (state, _rest, { manner: { tls = "none" } }) => {
  if (tls === "none" || state.secure) return { say: "502 5.5.1 STARTTLS not available" };
  if (tls === "refused") return { say: "454 4.7.0 TLS not available due to a temporary reason" };
  return { say: "220 2.0.0 Go ahead", next: tls === "broken" ? "break TLS" : "start TLS" };
};

const mail: Command = (state, rest, { manner }) => {
  const [, sender, parameters = ""] = /^FROM: *<([^>]*)>(.*)$/is.exec(rest) ?? [];
  if (!state.hello) return { say: "503 5.5.1 EHLO first" };
  if (sender === undefined) return { say: "501 5.5.4 Syntax: MAIL FROM:<address>" };
  if (state.sender !== undefined) return { say: "503 5.5.1 Nested MAIL command" };
  if ((manner.tls === "required" || manner.tls === "broken") && !state.secure)
    return { say: "530 5.7.0 Must issue a STARTTLS command first" };
  if (manner.mail) return { say: manner.mail };
  const utf8 = /\bSMTPUTF8\b/i.test(parameters);
  if (utf8 && !(manner.offers ?? []).includes("SMTPUTF8"))
    return { say: "555 5.5.4 Unsupported option: SMTPUTF8" };
  state.sender = sender;
  state.utf8 = utf8;
  return { say: "250 2.1.0 Ok" };
};

const rcpt: Command = (state, rest, host, memory) => {
  const [, path] = /^TO: *<(.*)>/is.exec(rest) ?? [];
  const { sender } = state;
  if (sender === undefined) return { say: "503 5.5.1 Need MAIL command" };
  const to = path === undefined ? undefined : recipientOf(path);
  if (!to) return { say: "501 5.1.3 Bad recipient address syntax" };
  if (!state.utf8 && !isAscii(to.local))
    return { say: "553 5.6.7 The address needs SMTPUTF8, and the sender did not ask for it" };
  state.asked += 1;
  const waitedMs = () => memory.waitedMs(host.name, sender, `${to.local}@${to.domain}`);
  return stepOf(host.manner.rcpt({ ...to, nth: state.asked, waitedMs }));
};

const stepOf = (reaction: Reaction): Step => {
  if (typeof reaction === "string") return { say: reaction };
  const { say, slow = 0, hangUp = false } = reaction;
  if (say === undefined) return { next: "drop" };
  return { say, slow, ...(hangUp && { next: "hang up" }) };
};

/** The local part comes as the host's mailboxes are named: without quotes (RFC 5321 §4.1.2). */
const recipientOf = (path: string): { local: string; domain: string } | undefined => {
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
  return { say: "250 2.0.0 Ok" };
};

const listed = (lines: readonly string[]): Said =>
  lines.map((line, index) => `250${index === lines.length - 1 ? " " : "-"}${line}`).join("\n");

const always =
  (say: Said): Command =>
  () => ({ say });

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["EHLO", ehlo],
  ["HELO", helo],
  ["STARTTLS", startTls],
  ["MAIL", mail],
  ["RCPT", rcpt],
  ["RSET", reset],
  ["NOOP", always("250 2.0.0 Ok")],
  ["QUIT", () => ({ say: "221 2.0.0 Bye", next: "hang up" })],
  ["VRFY", always("252 2.1.5 Send some mail, and see")],
  ["EXPN", always("502 5.5.1 Not here")],
  ["HELP", always("214 2.0.0 See docs/lab.md")],
  // Nobody who verifies an address sends a message. The counters tell when somebody tried.
  ["DATA", always("554 5.5.1 The lab takes no messages")],
]);
