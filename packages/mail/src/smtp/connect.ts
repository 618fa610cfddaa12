import type { MailHost } from "../dns/mail-hosts.ts";
import { findMailProvider } from "../mail-providers.ts";
import { converse, getRemainingMs, type TimeLimit, type Transcript } from "./converse.ts";
import { createDialogue } from "./dialogue.ts";
import type { RecipientResult, SessionPlan, SessionResult } from "./session.ts";
import { isThrottled } from "./session-stop.ts";
import { isFault, type SmtpConnect, type SmtpTarget, type WireFault } from "./wire.ts";

/** What a session is to find out, whichever host answers. */
export type SessionRequest = Omit<SessionPlan, "mxHost" | "limits" | "tls"> & {
  /** 25, but for a laboratory. */
  readonly port: number;
  /** The host was silent before: it gets as long as a tarpit. */
  readonly isPatient?: boolean;
  /** How many recipients the host refused in one session before it ended it. Absent: it ended none for that. */
  readonly findRefusalBudget?: (host: string) => number | undefined;
};

export type HostAttempt = {
  readonly host: string;
  /** Empty where there was none to connect to. */
  readonly ip: string;
  readonly result: SessionResult;
  readonly transcript: Transcript;
};

/** The attempt that counts, and how it came to it. */
export type SessionOutcome = HostAttempt & { readonly attempts: readonly HostAttempt[] };

/** A dummy first host is normal ("nolisting"); more than this says that the trouble is ours. */
const HOSTS_MAX = 3;
const ADDRESSES_MAX = 2;
const CONNECT_MS = 5000;

/**
 * Asks the first mail host that will talk, in the order of their priority (RFC 5321 §5.1). Hosts of the same
 * priority keep their order: the caller has shuffled them.
 */
export const trySession = async (
  connect: SmtpConnect,
  hosts: readonly MailHost[],
  request: SessionRequest,
  timeLimit: TimeLimit,
): Promise<SessionOutcome> => {
  const attempts: HostAttempt[] = [];
  const route: ConnectRoute = { connect, affinityKey: getAffinityKey(hosts) };
  for (const target of listTargets(hosts, request.port)) {
    if (!isWorthTrying(target, attempts)) continue;
    let attempt = await tryHost(route, target, { ...request, tls: true }, timeLimit);
    attempts.push(attempt);
    if (brokeInTls(attempt)) {
      attempt = await tryHost(route, target, { ...request, tls: false }, timeLimit);
      attempts.push(attempt);
    }
    // The other hosts of a domain mostly share the count that a throttle comes from.
    if (hasTalked(attempt) || isThrottled(attempt.result, target.host))
      return { ...attempt, transcript: joinTranscripts(attempts), attempts };
    if (getRemainingMs(timeLimit) <= 0) break;
  }
  const nowhere: SmtpTarget = { ip: "", port: request.port, host: hosts[0]?.host ?? "" };
  const chosen = chooseMostInformative(attempts);
  return chosen
    ? { ...chosen, transcript: joinTranscripts(attempts), attempts }
    : { ...createUnreachedAttempt(nowhere, request, "no_address"), attempts };
};

/** Of all hosts that were asked, each below its name. */
const joinTranscripts = (attempts: readonly HostAttempt[]): Transcript =>
  attempts.length < 2
    ? (attempts[0]?.transcript ?? [])
    : attempts.flatMap(({ host, ip, transcript }) => [
        { ms: 0, who: "wire", text: `${host} [${ip}]` },
        ...transcript,
      ]);

/** Whether another host stands before this one in the order of the domain's MX records. */
export const isBackup = (hosts: readonly MailHost[], host: string): boolean =>
  getPriority(hosts, host) > Math.min(...hosts.map(({ priority }) => priority));

/**
 * A more preferred host that answered, where a backup host talked: it speaks for the domain. A host that cannot be
 * connected to ("nolisting"), or takes no mail at all (521), leaves that to the next one.
 */
export const findFirstChoice = (
  hosts: readonly MailHost[],
  { host, attempts }: SessionOutcome,
): HostAttempt | null => {
  const own = getPriority(hosts, host);
  const earlier = attempts.filter((one) => getPriority(hosts, one.host) < own && hasAnswered(one));
  const first = Math.min(...earlier.map((one) => getPriority(hosts, one.host)));
  const choices = earlier.filter((one) => getPriority(hosts, one.host) === first);
  return chooseMostInformative(choices) ?? null;
};

const getPriority = (hosts: readonly MailHost[], name: string): number =>
  hosts.find(({ host }) => host === name)?.priority ?? 0;

const hasAnswered = ({ result: { ending } }: HostAttempt): boolean =>
  ending !== null &&
  ending.stage !== "connect" &&
  (isFault(ending.reply) || ending.reply.code !== 521);

type ConnectRoute = { readonly connect: SmtpConnect; readonly affinityKey: string };

/** All sessions to these hosts prefer one exit. The hosts come in an order that chance decides. */
export const getAffinityKey = (hosts: readonly MailHost[]): string =>
  hosts.toSorted((a, b) => a.priority - b.priority || (a.host < b.host ? -1 : 1))[0]?.host ?? "";

const listTargets = (hosts: readonly MailHost[], port: number): readonly SmtpTarget[] =>
  hosts
    .filter(({ ips }) => ips.length > 0)
    .toSorted((a, b) => a.priority - b.priority)
    .slice(0, HOSTS_MAX)
    .flatMap(({ host, ips }) => ips.slice(0, ADDRESSES_MAX).map((ip) => ({ ip, port, host })));

/** A host's next address is tried only when the last one did not answer: a server would repeat its reply. */
const isWorthTrying = ({ host, ip }: SmtpTarget, attempts: readonly HostAttempt[]): boolean =>
  attempts.every((past) => past.ip !== ip && (past.host !== host || getStage(past) === "connect"));

const tryHost = async (
  { connect, affinityKey }: ConnectRoute,
  target: SmtpTarget,
  request: SessionRequest & Pick<SessionPlan, "tls">,
  timeLimit: TimeLimit,
): Promise<HostAttempt> => {
  const { host, ip } = target;
  const timeoutMs = Math.min(CONNECT_MS, getRemainingMs(timeLimit));
  if (timeoutMs <= 0) return createUnreachedAttempt(target, request, "deadline");
  const wire = await connect(target, { timeoutMs, affinityKey });
  if (typeof wire === "string") return createUnreachedAttempt(target, request, wire);

  const { limits: known, waits } = findMailProvider(host);
  const budget = request.findRefusalBudget?.(host);
  // One less than ends the session.
  const limits = budget === undefined ? known : { ...known, rejectionsPerConnection: budget - 1 };
  const plan = { ...request, mxHost: host, limits };
  const options = { waits, isPatient: request.isPatient };
  return { host, ip, ...(await converse(wire, createDialogue(plan), timeLimit, options)) };
};

const createUnreachedAttempt = (
  { host, ip }: SmtpTarget,
  { recipients }: Pick<SessionPlan, "recipients">,
  fault: WireFault,
): HostAttempt => {
  const isOurs = fault === "deadline";
  const toRecipientResult = (recipient: string): RecipientResult => ({
    recipient,
    stage: "connect",
    reply: null,
    fault,
  });
  const result: SessionResult = {
    recipients: isOurs ? [] : recipients.map(toRecipientResult),
    unknownRecipients: [],
    remaining: isOurs ? recipients : [],
    catchAllProbes: [],
    closedBy: isOurs ? "deadline" : "lost",
    ending: { stage: "connect", reply: fault },
    tls: false,
    extensions: [],
  };
  return { host, ip, result, transcript: [{ ms: 0, who: "wire", text: `${fault} (connect)` }] };
};

const getStage = ({ result }: HostAttempt) => result.ending?.stage ?? null;

/** After EHLO the server has accepted the session, and its replies count for the domain. */
const hasTalked = (attempt: HostAttempt): boolean =>
  [null, "mail", "rcpt"].includes(getStage(attempt));

const brokeInTls = (attempt: HostAttempt): boolean =>
  getStage(attempt) === "starttls" && attempt.result.closedBy === "lost";

/** Where no host accepted the session: a server's reply first, then a fault, then a host that accepts no mail at all. */
const chooseMostInformative = (attempts: readonly HostAttempt[]): HostAttempt | undefined =>
  attempts.toSorted((a, b) => weighAttempt(b) - weighAttempt(a))[0];

// 521 (RFC 7504) rejects every address of the domain, so it must hold for all hosts that we know of.
const weighAttempt = ({ result }: HostAttempt): number => {
  const reply = result.ending?.reply ?? "closed";
  if (isFault(reply)) return 1;
  return reply.code === 521 ? 0 : 2;
};
