import type { MailHost } from "../mail-hosts.ts";
import { converse, leftMs, type Time, type Transcript } from "./converse.ts";
import { limitsOf, providerOf } from "./limits.ts";
import { type Asked, type Plan, type SessionResult, session } from "./session.ts";
import { type Connect, isFault, type Target, type WireFault } from "./wire.ts";

/** What a session is to find out, whichever host answers. */
export type Inquiry = Omit<Plan, "mxHost" | "limits" | "tls"> & {
  /** 25, but for a laboratory. */
  readonly port: number;
};

export type Attempt = {
  readonly host: string;
  /** Empty where there was none to connect to. */
  readonly ip: string;
  readonly result: SessionResult;
  readonly transcript: Transcript;
};

/** The attempt that counts, and how it came to it. */
export type Tried = Attempt & { readonly attempts: readonly Attempt[] };

/** A dummy first host is normal ("nolisting"); more than this says that the trouble is ours. */
const HOSTS_MAX = 3;
const ADDRESSES_MAX = 2;
const CONNECT_MS = 5000;

/**
 * Asks the first mail host that will talk, in the order of their priority (RFC 5321 §5.1). Hosts of the same
 * priority keep the order they come in: whoever has chance at hand has shuffled them.
 */
export const trySession = async (
  connect: Connect,
  hosts: readonly MailHost[],
  inquiry: Inquiry,
  time: Time,
): Promise<Tried> => {
  const attempts: Attempt[] = [];
  const talk: Talk = { connect, lane: laneOf(hosts) };
  for (const target of targetsOf(hosts, inquiry.port)) {
    if (!isWorthTrying(target, attempts)) continue;
    let attempt = await attemptAt(talk, target, { ...inquiry, tls: true }, time);
    attempts.push(attempt);
    if (brokeInTls(attempt)) {
      attempt = await attemptAt(talk, target, { ...inquiry, tls: false }, time);
      attempts.push(attempt);
    }
    if (hasTalked(attempt)) return { ...attempt, attempts };
    if (leftMs(time) <= 0) break;
  }
  const nowhere: Target = { ip: "", port: inquiry.port, host: hosts[0]?.host ?? "" };
  return { ...(mostTelling(attempts) ?? unreached(nowhere, inquiry, "no_address")), attempts };
};

type Talk = { readonly connect: Connect; readonly lane: string };

/**
 * All who share these hosts leave from one address, and so does the next attempt, whoever else is in its session then.
 * The hosts come in an order that chance decides.
 */
const laneOf = (hosts: readonly MailHost[]): string =>
  hosts.toSorted((a, b) => a.priority - b.priority || (a.host < b.host ? -1 : 1))[0]?.host ?? "";

const targetsOf = (hosts: readonly MailHost[], port: number): readonly Target[] =>
  hosts
    .filter(({ ips }) => ips.length > 0)
    .toSorted((a, b) => a.priority - b.priority)
    .slice(0, HOSTS_MAX)
    .flatMap(({ host, ips }) => ips.slice(0, ADDRESSES_MAX).map((ip) => ({ ip, port, host })));

/** A host's next address is for when the last one was not there: what a server has said, it would say again. */
const isWorthTrying = ({ host, ip }: Target, attempts: readonly Attempt[]): boolean =>
  attempts.every((past) => past.ip !== ip && (past.host !== host || stageOf(past) === "connect"));

const attemptAt = async (
  { connect, lane }: Talk,
  target: Target,
  asking: Inquiry & Pick<Plan, "tls">,
  time: Time,
): Promise<Attempt> => {
  const { host, ip } = target;
  const timeoutMs = Math.min(CONNECT_MS, leftMs(time));
  if (timeoutMs <= 0) return unreached(target, asking, "deadline");
  const wire = await connect(target, { timeoutMs, lane });
  if (typeof wire === "string") return unreached(target, asking, wire);

  const plan = { ...asking, mxHost: host, limits: limitsOf(providerOf(host)) };
  return { host, ip, ...(await converse(wire, session(plan), time)) };
};

const unreached = (
  { host, ip }: Target,
  { recipients }: Pick<Plan, "recipients">,
  fault: WireFault,
): Attempt => {
  const isOurs = fault === "deadline";
  const asAsked = (recipient: string): Asked => ({
    recipient,
    stage: "connect",
    reply: null,
    fault,
  });
  const result: SessionResult = {
    recipients: isOurs ? [] : recipients.map(asAsked),
    nobody: [],
    unasked: isOurs ? recipients : [],
    decoys: [],
    closedBy: isOurs ? "deadline" : "lost",
    ending: { stage: "connect", heard: fault },
    tls: false,
    extensions: [],
  };
  return { host, ip, result, transcript: [{ ms: 0, who: "wire", text: `${fault} (connect)` }] };
};

const stageOf = ({ result }: Attempt) => result.ending?.stage ?? null;

/** Past EHLO the server has taken us in, and what it says then is said for the domain. */
const hasTalked = (attempt: Attempt): boolean => [null, "mail", "rcpt"].includes(stageOf(attempt));

const brokeInTls = (attempt: Attempt): boolean =>
  stageOf(attempt) === "starttls" && attempt.result.closedBy === "lost";

/** Where nobody talked to us: a server's own words first, then a fault, then a host that takes no mail at all. */
const mostTelling = (attempts: readonly Attempt[]): Attempt | undefined =>
  attempts.toSorted((a, b) => weight(b) - weight(a))[0];

// 521 (RFC 7504) rejects every address of the domain, so it must hold for all hosts that we know of.
const weight = ({ result }: Attempt): number => {
  const heard = result.ending?.heard ?? "closed";
  if (isFault(heard)) return 1;
  return heard.code === 521 ? 0 : 2;
};
