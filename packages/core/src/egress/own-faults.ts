import { type Dns, type DnsOutcome, isAbsent, isFault } from "@mailproof/mail/dns/dns";
import { isPublicIp } from "@mailproof/mail/ip";
import type { World } from "../ports/world.ts";
import type { Probe } from "../smtp-pool/probe.ts";
import { isShutIn } from "./reach.ts";

// Separates faults of our own network from faults of a domain. Every DNS query and every probe passes here, so verify, form,
// batch, file, find and check treat a fault alike, and `unpaid-results.ts` decides its price.

type Clocked = Pick<World, "table" | "now">;

/** The root zone delegates `com` itself, so every resolver on the internet knows its name servers. */
const CONTROL = { type: "NS", name: "com" } as const;
/** No resolver ever finds a name under `invalid` (RFC 6761 §6.4). */
const RESERVED_NAME = /(?:^|\.)invalid$/i;
/** A list of dead domains causes one control query and one read per second. */
const REMEMBERED_MS = 1_000;

const INTERNAL = { kind: "internal" } as const;

/**
 * Turns an outcome that says nothing about the domain into `internal`. A DNS fault counts as the domain's only while our
 * resolver answers the control query and the last visits reached the internet. An NXDOMAIN counts as the domain's unless the
 * resolver denies `com`, too: such a resolver knows only the names of a company or of a closed network.
 */
export const attributeDnsFaults = (
  dns: Dns,
  { trustsDenials, ...clocked }: Clocked & { readonly trustsDenials: boolean },
): Dns => {
  const askControl = remember(clocked, () => dns(CONTROL.type, CONTROL.name));
  const isOurNetworkShut = remember(clocked, () => isShutIn(clocked.table));
  const deniesInternet = async () => !trustsDenials && isAbsent(await askControl());
  const isOurs = async (outcome: DnsOutcome<unknown>): Promise<boolean> => {
    if (outcome.kind === "nxdomain") return deniesInternet();
    // A response that was too large is still an answer.
    if (!isFault(outcome) || outcome.kind === "too_large") return false;
    return isFault(await askControl()) || (await deniesInternet()) || isOurNetworkShut();
  };
  return async (type, name) => {
    const outcome = await dns(type, name);
    return !RESERVED_NAME.test(name) && (await isOurs(outcome)) ? INTERNAL : outcome;
  };
};

/** Turns a failed connection into our own fault while our port 25 is known to be closed. */
export const attributeConnectFaults = (probe: Probe, clocked: Clocked): Probe => {
  const isOurNetworkShut = remember(clocked, () => isShutIn(clocked.table));
  return async (question) => {
    const result = await probe(question);
    const { finding } = result;
    const isOutside = question.hosts.some(({ ips }) => ips.some((ip) => isPublicIp(ip, [])));
    return finding.reason === "connect_failed" && isOutside && (await isOurNetworkShut())
      ? { ...result, finding: { ...finding, reason: "no_smtp_egress" } }
      : result;
  };
};

const remember = <T>({ now }: Pick<World, "now">, ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: Promise<T> | undefined;
  let untilMs = 0;
  return () => {
    const nowMs = now().getTime();
    if (answer && nowMs < untilMs) return answer;
    untilMs = nowMs + REMEMBERED_MS;
    answer = ask();
    return answer;
  };
};
