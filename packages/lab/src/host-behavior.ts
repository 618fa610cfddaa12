/** As RCPT names it, the local part without quotes. */
export type Recipient = { readonly local: string; readonly domain: string };

/** A question about one recipient, with the state that a mail host may take into account. */
export type RecipientRequest = Recipient & {
  /** How many recipients this session has asked about, this one included. */
  readonly nth: number;
  /** The recipients before it in the same transaction. */
  readonly earlier: readonly Recipient[];
  /** Since the same sender first asked for this recipient here; 0 the first time. Asking is remembered. */
  readonly waitedMs: () => number;
};

/** A whole reply as it goes over the wire, its lines parted by line feeds. */
export type ReplyText = string;

export type Reaction =
  | ReplyText
  | {
      /** Absent: the connection is dropped without a reply. */
      readonly reply?: ReplyText;
      readonly hangUp?: boolean;
      /** In units of the lab's `slowMs`. */
      readonly slow?: number;
    };

export type Rule = (request: RecipientRequest) => Reaction;

/** How a mail host behaves. Absent fields are those of a plain, polite and quick host. */
export type HostBehavior = {
  readonly rcpt: Rule;
  /** HOST is replaced by the host's name. A 4xx or 5xx is followed by the end of the connection. */
  readonly greeting?: ReplyText;
  /**
   * Instead of the greeting: nothing; the end of the connection; lines without end; the greeting and then the host's
   * half of the connection closed; or the greeting, but a client that sends something before it is disconnected.
   */
  readonly opening?: "silence" | "hang up" | "endless" | "half close" | "patience";
  /** In units of `slowMs`: before the greeting, and before every reply. */
  readonly slowGreeting?: number;
  readonly slow?: number;
  /** RFC 5321 §2.2.1 keywords for EHLO. STARTTLS comes by `tls`. */
  readonly extensions?: readonly string[];
  /** Instead of the list of extensions; a 5xx makes the client fall back to HELO. */
  readonly ehlo?: ReplyText;
  readonly tls?: "none" | "offered" | "required" | "refused" | "broken";
  /** Instead of accepting the sender. */
  readonly mail?: ReplyText | (() => Reaction | undefined);
  /** How the bytes leave: lines ended by a bare line feed, in small pieces, or a piece per tenth of `slowMs`. */
  readonly wire?: "bare line feeds" | "pieces" | "drip";
  /** The session over this many is answered 421 at the greeting. */
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

/** Local parts that exist at every domain of the lab. */
const EXISTING_NAMES = new Set(
  "abuse admin ada alan billing contact grace hello hr info jane john linus marketing max news no-reply noreply office postmaster sales security support team webmaster".split(
    " ",
  ),
);

// Two or more words of letters, as people are written: no random recipient of letters and digits has this form.
const NAME_LIKE = /^\p{L}[\p{L}'-]{0,14}(?:[._]\p{L}[\p{L}'-]{0,14}){1,3}\d{0,7}$/u;
const MISSING_PATTERN = /^(?:nobody|unknown|nonexistent|no\.such|not\.here)/;

/** Whether a mailbox exists by default: only by its name, so that every run is the same. */
export const isExistingMailbox = (local: string): boolean => {
  const [name = ""] = local.normalize("NFC").toLowerCase().split("+");
  return !MISSING_PATTERN.test(name) && (EXISTING_NAMES.has(name) || NAME_LIKE.test(name));
};

export const acceptAll: Rule = () => OK;
export const alwaysReply =
  (reaction: Reaction): Rule =>
  () =>
    reaction;
/** A host with mailboxes: the usual replies, or these. */
export const acceptExisting =
  (missingReply: Reaction = NO_SUCH_USER, existingReply: Reaction = OK): Rule =>
  ({ local }) =>
    isExistingMailbox(local) ? existingReply : missingReply;

/** Refuses a recipient until the same sender has come back for it after a while, as postgrey does. */
export const greylist =
  (later: ReplyText, waitMs: number): Rule =>
  (request) =>
    request.waitedMs() < waitMs ? later : acceptExisting()(request);

/** Replies like a plain host up to this many recipients of a session, then with this. */
export const acceptUpTo =
  (count: number, then: Reaction): Rule =>
  (request) =>
    request.nth <= count ? acceptExisting()(request) : then;

/** Every reply to a recipient takes this much longer than the one before. */
export const tarpit =
  (slow: number): Rule =>
  ({ local, nth }) => ({ reply: isExistingMailbox(local) ? OK : NO_SUCH_USER, slow: slow * nth });
