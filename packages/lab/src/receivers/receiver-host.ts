import type { Visit } from "../dialogue.ts";
import type { HostBehavior, Reaction, RecipientRequest, ReplyText } from "../host-behavior.ts";
import type { Block, Limit, Receiver, ReceiverCounts } from "./receiver.ts";
import {
  answerRecipient,
  type ClientRecord,
  findMailbox,
  NEW_CLIENT,
  NEW_SESSION,
  startBlock,
} from "./receiver-state.ts";

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
  tls,
  greetingSeconds,
}: Receiver): HostBehavior => ({
  rcpt: () => "451 4.3.0 No session",
  ...(greeting !== undefined && { greeting: greeting.replaceAll("{host}", "HOST") }),
  ...(extensions && { extensions }),
  ...(tls && { tls }),
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
