import type { MailHost } from "../dns/mail-hosts.ts";
import { findMailProvider } from "../mail-providers.ts";
import { converse, getRemainingMs, type TimeLimit, type Transcript } from "./converse.ts";
import { createDialogue } from "./dialogue.ts";
import type { RecipientResult, SessionPlan, SessionResult } from "./session.ts";
import { isThrottled } from "./session-stop.ts";
import { isFault, type SmtpConnect, type SmtpTarget, type WireFault } from "./wire.ts";

export type SessionRequest = Omit<SessionPlan, "mxHost" | "limits" | "tls"> & {
  readonly port: number;
  /** Set when the host was silent before: the host then gets as much time as a tarpit. */
  readonly isPatient?: boolean;
  /** Returns how many refused recipients made the host end a session. Undefined when refusals never made it end a session. */
  readonly findRefusalBudget?: (host: string) => number | undefined;
};

export type HostAttempt = {
  readonly host: string;
  readonly ip: string;
  readonly result: SessionResult;
  readonly transcript: Transcript;
};

/** The attempt that decides, and all attempts before it. */
export type SessionOutcome = HostAttempt & { readonly attempts: readonly HostAttempt[] };

/** Some domains publish a dead first host on purpose ("nolisting"); more than three failures point to a fault of ours. */
const HOSTS_MAX = 3;
const ADDRESSES_MAX = 2;
const CONNECT_MS = 5000;

/**
 * Opens a session with the first mail host that accepts one, by priority (RFC 5321 §5.1). Hosts of the same priority keep their order,
 * which the caller has shuffled.
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
    // A domain's other hosts mostly share the counter behind a throttle, so trying them is useless.
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

const joinTranscripts = (attempts: readonly HostAttempt[]): Transcript =>
  attempts.length < 2
    ? (attempts[0]?.transcript ?? [])
    : attempts.flatMap(({ host, ip, transcript }) => [
        { ms: 0, who: "wire", text: `${host} [${ip}]` },
        ...transcript,
      ]);

export const isBackup = (hosts: readonly MailHost[], host: string): boolean =>
  getPriority(hosts, host) > Math.min(...hosts.map(({ priority }) => priority));

/**
 * When a backup host has accepted the session: returns the more preferred host that answered, which speaks for the domain. A host that
 * refuses the connection ("nolisting"), or accepts no mail at all (521), leaves the decision to the next host.
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

/** Returns the key that makes all sessions to these hosts prefer one exit, although callers shuffle the hosts. */
export const getAffinityKey = (hosts: readonly MailHost[]): string =>
  hosts.toSorted((a, b) => a.priority - b.priority || (a.host < b.host ? -1 : 1))[0]?.host ?? "";

const listTargets = (hosts: readonly MailHost[], port: number): readonly SmtpTarget[] =>
  hosts
    .filter(({ ips }) => ips.length > 0)
    .toSorted((a, b) => a.priority - b.priority)
    .slice(0, HOSTS_MAX)
    .flatMap(({ host, ips }) => ips.slice(0, ADDRESSES_MAX).map((ip) => ({ ip, port, host })));

/** We try a host's next address only when the last one did not answer: the same server would repeat its reply. */
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
  // The session stops one refusal before the host would end it.
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

/** A server that replied to EHLO has accepted the session, and its replies count for the domain. */
const hasTalked = (attempt: HostAttempt): boolean =>
  [null, "mail", "rcpt"].includes(getStage(attempt));

const brokeInTls = (attempt: HostAttempt): boolean =>
  getStage(attempt) === "starttls" && attempt.result.closedBy === "lost";

/** When no host accepted the session, prefers a server's reply, then a fault, then a host that accepts no mail at all. */
const chooseMostInformative = (attempts: readonly HostAttempt[]): HostAttempt | undefined =>
  attempts.toSorted((a, b) => weighAttempt(b) - weighAttempt(a))[0];

// 521 (RFC 7504) rejects every address of the domain, so it must hold for all hosts that we know of.
const weighAttempt = ({ result }: HostAttempt): number => {
  const reply = result.ending?.reply ?? "closed";
  if (isFault(reply)) return 1;
  return reply.code === 521 ? 0 : 2;
};
