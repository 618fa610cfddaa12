export type Recipient = { readonly local: string; readonly domain: string };

export type RecipientRequest = Recipient & {
  /** The position of the recipient in this session, from 1. */
  readonly nth: number;
  readonly earlier: readonly Recipient[];
  /** The time since the same sender first asked for this recipient here; 0 the first time. The call itself is remembered. */
  readonly waitedMs: () => number;
};

export type ReplyText = string;

export type Reaction =
  | ReplyText
  | {
      /** Absent when the connection is dropped without a reply. */
      readonly reply?: ReplyText;
      readonly hangUp?: boolean;
      readonly slow?: number;
    };

export type Rule = (request: RecipientRequest) => Reaction;

/** The behavior of a mail host. An absent field means a plain, polite and quick host. */
export type HostBehavior = {
  readonly rcpt: Rule;
  /** The host's name replaces HOST. After a 4xx or 5xx the connection ends. */
  readonly greeting?: ReplyText;
  /**
   * Replaces the greeting: nothing; the end of the connection; lines without end; the greeting, then the host's half of the connection
   * closes; or the greeting, with disconnection of a client that sends something before it.
   */
  readonly opening?: "silence" | "hang up" | "endless" | "half close" | "patience";
  /** The delays before the greeting and before every reply, in units of `slowMs`. */
  readonly slowGreeting?: number;
  readonly slow?: number;
  /** RFC 5321 §2.2.1 keywords for EHLO. `tls` adds STARTTLS. */
  readonly extensions?: readonly string[];
  readonly ehlo?: ReplyText;
  readonly tls?: "none" | "offered" | "required" | "refused" | "broken";
  readonly mail?: ReplyText | (() => Reaction | undefined);
  /** The way in which the bytes leave: with bare line feeds, in small pieces, or a piece per tenth of `slowMs`. */
  readonly wire?: "bare line feeds" | "pieces" | "drip";
  /** The host replies 421 to further sessions in place of the greeting. */
  readonly sessionsMax?: number;
};

export const PLAIN_EXTENSIONS = [
  "PIPELINING",
  "SIZE 10240000",
  "ENHANCEDSTATUSCODES",
  "8BITMIME",
] as const;

const OK = "250 2.1.5 Ok";
const NO_SUCH_USER = "550 5.1.1 User unknown";

const EXISTING_NAMES = new Set(
  "abuse admin ada alan billing contact grace hello hr info jane john linus marketing max news no-reply noreply office postmaster sales security support team webmaster".split(
    " ",
  ),
);

// Two or more words of letters, like people's names: no random recipient of letters and digits has this form.
const NAME_LIKE = /^\p{L}[\p{L}'-]{0,14}(?:[._]\p{L}[\p{L}'-]{0,14}){1,3}\d{0,7}$/u;
const MISSING_PATTERN = /^(?:nobody|unknown|nonexistent|no\.such|not\.here)/;

/** Tells whether a mailbox exists by default: only its name decides, so every run is the same. */
export const isExistingMailbox = (local: string): boolean => {
  const [name = ""] = local.normalize("NFC").toLowerCase().split("+");
  return !MISSING_PATTERN.test(name) && (EXISTING_NAMES.has(name) || NAME_LIKE.test(name));
};

export const acceptAll: Rule = () => OK;
export const alwaysReply =
  (reaction: Reaction): Rule =>
  () =>
    reaction;
/** A host with mailboxes: the caller may replace the usual replies. */
export const acceptExisting =
  (missingReply: Reaction = NO_SUCH_USER, existingReply: Reaction = OK): Rule =>
  ({ local }) =>
    isExistingMailbox(local) ? existingReply : missingReply;

/** Refuses a recipient until the same sender has come back for it after a while, as postgrey does. */
export const greylist =
  (later: ReplyText, waitMs: number): Rule =>
  (request) =>
    request.waitedMs() < waitMs ? later : acceptExisting()(request);

/** Replies like a plain host to the first `count` recipients of a session, then with `then`. */
export const acceptUpTo =
  (count: number, then: Reaction): Rule =>
  (request) =>
    request.nth <= count ? acceptExisting()(request) : then;

/** Each reply to a recipient takes longer than the reply before, by `slow`. */
export const tarpit =
  (slow: number): Rule =>
  ({ local, nth }) => ({ reply: isExistingMailbox(local) ? OK : NO_SUCH_USER, slow: slow * nth });
