import type { MailHost, Visit } from "../dialogue.ts";
import {
  type HostBehavior,
  isExistingMailbox,
  type Reaction,
  type RecipientRequest,
  type ReplyText,
} from "../host-behavior.ts";
import type { Zone } from "../zone.ts";
import {
  type Block,
  DAY_MINUTES,
  type Limit,
  type Mailbox,
  type Receiver,
  type ReceiverCounts,
} from "./receiver.ts";

type ClientRecord = {
  readonly open: number;
  readonly sessions: number;
  readonly unknown: number;
  readonly block: (Block & { readonly untilMs: number }) | undefined;
};

type SessionRecord = {
  readonly transactions: number;
  readonly recipients: number;
  readonly refusals: number;
};

type Situation = {
  readonly receiver: Receiver;
  readonly request: RecipientRequest;
  readonly client: ClientRecord;
  readonly session: SessionRecord;
  readonly nowMs: number;
};

type Outcome = {
  readonly reply: ReplyText;
  readonly client: ClientRecord;
  readonly session: SessionRecord;
  /** True when a limit caused the reply. */
  readonly isOverLimit: boolean;
};

const MINUTE_MS = 60_000;
const NEW_CLIENT: ClientRecord = {
  open: 0,
  sessions: 0,
  unknown: 0,
  block: undefined,
};
const NEW_SESSION: SessionRecord = { transactions: 0, recipients: 0, refusals: 0 };

const findMailbox = (local: string): Mailbox => {
  const [, condition] = /^(full|disabled|busy)\b/.exec(local.toLowerCase()) ?? [];
  if (condition) return condition as Mailbox;
  return isExistingMailbox(local) ? "existing" : "unknown";
};

const answerRecipient = (situation: Situation): Outcome => {
  const { receiver, request, client, session, nowMs } = situation;
  const limited = findExceeded(situation);
  const mailbox = findMailbox(request.local);
  const reply = limited?.reply ?? findMailboxReply(situation, mailbox);
  const isUnknown = !limited && mailbox === "unknown";
  const unknown = client.unknown + (isUnknown ? 1 : 0);
  const block = receiver.blocks?.find(({ afterUnknown = Infinity }) => unknown >= afterUnknown);
  return {
    reply,
    isOverLimit: limited !== undefined,
    client: block
      ? { ...client, unknown: 0, block: startBlock(block, nowMs) }
      : { ...client, unknown },
    session: {
      ...session,
      recipients: session.recipients + 1,
      refusals: session.refusals + (reply.startsWith("5") ? 1 : 0),
    },
  };
};

const startBlock = (block: Block, nowMs: number) => ({
  ...block,
  untilMs: nowMs + (block.minutes ?? DAY_MINUTES) * MINUTE_MS,
});

const findExceeded = ({ receiver, request, session }: Situation): Limit | undefined => {
  const { limits = {} } = receiver;
  const { earlier } = request;
  const domains = new Set([...earlier, request].map((one) => one.domain));
  const counted: readonly (readonly [Limit | undefined, number])[] = [
    [limits.refusalsPerSession, session.refusals + 1],
    [limits.recipientsPerSession, session.recipients + 1],
    [limits.domainsPerTransaction, domains.size],
    [limits.recipientsPerTransaction, earlier.length + 1],
  ];
  return counted.find(([limit, count]) => limit && count > limit.most)?.[0];
};

const findMailboxReply = ({ receiver, request }: Situation, mailbox: Mailbox): ReplyText => {
  const domain = receiver.domains.find(({ name }) => name === request.domain);
  if (!domain) return "554 5.7.1 <{address}>: Relay access denied";
  const { greylist } = domain;
  if (greylist && request.waitedMs() < greylist.minutes * MINUTE_MS) return greylist.reply;
  const replies = { ...receiver.mailboxes, ...domain.mailboxes };
  return replies[mailbox] ?? replies.existing;
};

const NO_COUNTS: ReceiverCounts = {
  sessions: 0,
  sessionsIntoBlock: 0,
  recipients: 0,
  unknownRecipients: 0,
  overLimit: 0,
};

type ReceiverMemory = {
  readonly now: () => Date;
  readonly getClient: (address: string) => ClientRecord;
  readonly updateClient: (address: string, changes: Partial<ClientRecord>) => void;
  readonly count: (name: keyof ReceiverCounts) => void;
};

/** Creates a receiver at all its hosts. `isBlocked` puts its clients on its list, for the block of this name. */
export const createReceiver = (
  receiver: Receiver,
  now: () => Date,
  isBlocked: boolean | string,
) => {
  const clients = new Map<string, ClientRecord>();
  const listed =
    isBlocked !== false &&
    receiver.blocks?.find(
      ({ afterUnknown, name }) => !afterUnknown && (isBlocked === true || name === isBlocked),
    );
  const newClient = listed
    ? { ...NEW_CLIENT, block: startBlock(listed, now().getTime()) }
    : NEW_CLIENT;
  let counts = NO_COUNTS;
  const getClient = (address: string) => clients.get(address) ?? newClient;
  const memory: ReceiverMemory = {
    now,
    getClient,
    updateClient: (address, changes) =>
      void clients.set(address, { ...getClient(address), ...changes }),
    count: (name) => {
      counts = { ...counts, [name]: counts[name] + 1 };
    },
  };
  return {
    behavior: toHostBehavior(receiver),
    visit: (host: string, client: string) => startVisit(receiver, memory, { host, client }),
    counts: () => counts,
  };
};

const toHostBehavior = ({
  greeting,
  extensions,
  offersTls,
  greetingSeconds,
}: Receiver): HostBehavior => ({
  rcpt: () => "451 4.3.0 No session",
  ...(greeting !== undefined && { greeting: greeting.replaceAll("{host}", "HOST") }),
  ...(extensions && { extensions }),
  ...(offersTls !== false && { tls: "offered" as const }),
  ...(greetingSeconds !== undefined && { slowGreeting: greetingSeconds }),
});

type Ends = { readonly host: string; readonly client: string };

const startVisit = (receiver: Receiver, memory: ReceiverMemory, ends: Ends): Visit => {
  const { limits = {} } = receiver;
  const getClient = () => memory.getClient(ends.client);
  const update = (changes: Partial<ClientRecord>) => memory.updateClient(ends.client, changes);
  const nowMs = () => memory.now().getTime();
  const nth = getClient().sessions + 1;
  const findBlock = (): Block | undefined => {
    const { block } = getClient();
    const isOver = nth > (block?.sessions ?? Number.POSITIVE_INFINITY);
    return block && !isOver && nowMs() < block.untilMs ? block : undefined;
  };
  const refuseAt = (stage: Block["stage"]): ReplyText | undefined => {
    const block = findBlock();
    return block?.stage === stage ? block.reply : undefined;
  };
  const refuseOver = (limit: Limit | undefined, count: number): ReplyText | undefined => {
    if (!limit || count <= limit.most) return undefined;
    memory.count("overLimit");
    return limit.reply;
  };

  memory.count("sessions");
  if (findBlock()) memory.count("sessionsIntoBlock");
  update({ open: getClient().open + 1, sessions: nth });
  const greeting = refuseOver(limits.sessionsAtOnce, getClient().open) ?? refuseAt("greeting");

  let session = NEW_SESSION;
  const mail = (): ReplyText | undefined => {
    session = { ...session, transactions: session.transactions + 1 };
    const refusal =
      refuseAt("mail") ?? refuseOver(limits.transactionsPerSession, session.transactions);
    return refusal && formatReply(refusal, ends);
  };
  const rcpt = (request: RecipientRequest): Reaction => {
    memory.count("recipients");
    if (findMailbox(request.local) === "unknown") memory.count("unknownRecipients");
    const slow = receiver.recipientSeconds ?? 0;
    const refusal = refuseAt("rcpt");
    if (refusal !== undefined) return { reply: formatReply(refusal, ends, request), slow };
    const client = getClient();
    const outcome = answerRecipient({ receiver, request, client, session, nowMs: nowMs() });
    session = outcome.session;
    update(outcome.client);
    if (outcome.isOverLimit) memory.count("overLimit");
    return { reply: formatReply(outcome.reply, ends, request), slow };
  };
  return {
    behavior: {
      rcpt,
      mail,
      ...(greeting !== undefined && { greeting: formatReply(greeting, ends) }),
    },
    onClose: () => update({ open: getClient().open - 1 }),
  };
};

const formatReply = (
  reply: ReplyText,
  { host, client }: Ends,
  { local, domain } = { local: "", domain: "" },
): ReplyText =>
  reply
    .replaceAll("{address}", `${local}@${domain}`)
    .replaceAll("{local}", local)
    .replaceAll("{domain}", domain)
    .replaceAll("{host}", host)
    .replaceAll("{client}", client);

/** Numbers the receivers' addresses after those of the lab's own hosts, which have the lower half of the block. */
const formatAddress = (index: number): string =>
  `127.77.${128 + Math.floor(index / 250)}.${1 + (index % 250)}`;

/** Builds the hosts and domains of receivers under their real names, each host at its own address. */
export const buildReceiverNetwork = (
  receivers: readonly Receiver[],
  blockedBy: readonly string[],
  now: () => Date,
) => {
  const hosts: MailHost[] = [];
  const zones: Record<string, Zone> = {};
  const counts: (readonly [string, () => ReceiverCounts])[] = [];
  for (const receiver of receivers) {
    const {
      behavior,
      visit,
      counts: countOne,
    } = createReceiver(receiver, now, findListing(receiver, blockedBy));
    counts.push([receiver.id, countOne]);
    for (const name of listHosts(receiver)) {
      const address = formatAddress(hosts.length);
      hosts.push({ name, address, behavior, visit: (client) => visit(name, client) });
      zones[name] = { [name]: { A: [address] } };
    }
    for (const { name, hosts: own = receiver.hosts } of receiver.domains)
      zones[name] = { [name]: { MX: own.map((host, index) => [10 * (index + 1), host]) } };
  }
  return {
    hosts,
    zones,
    counts: () => Object.fromEntries(counts.map(([id, countOne]) => [id, countOne()])),
  };
};

/** "id" selects the receiver's first block for listed clients, and "id:name" the named block. */
const findListing = ({ id }: Receiver, blockedBy: readonly string[]): boolean | string => {
  const entry = blockedBy.find((one) => one.split(":", 1)[0] === id);
  return entry === undefined ? false : (entry.split(":")[1] ?? true);
};

const listHosts = ({ hosts, domains }: Receiver): readonly string[] => [
  ...new Set([...hosts, ...domains.flatMap((domain) => domain.hosts ?? [])]),
];
