import type { Dns } from "@mailproof/mail/dns/dns";
import type { Cidr } from "@mailproof/mail/ip";
import type { Lists } from "@mailproof/mail/lists/lists";
import { NO_POLICY, type ProbePolicy } from "@mailproof/mail/probe-policy";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { attributeConnectFaults } from "../egress/own-faults.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { createCatchAllCache } from "../smtp-pool/catch-all-cache.ts";
import { createCircuitBreaker } from "../smtp-pool/circuit-breaker/circuit-breaker.ts";
import { createDailyQuota } from "../smtp-pool/daily-limits.ts";
import { createWarmUp } from "../smtp-pool/exits.ts";
import type { YieldToCallers } from "../smtp-pool/fairness.ts";
import type { Probe } from "../smtp-pool/probe.ts";
import { createProbeByPolicy } from "../smtp-pool/results.ts";
import { createProbe } from "../smtp-pool/scheduler.ts";
import type { OnSession } from "../smtp-pool/session-report.ts";
import type { SlotPool } from "../smtp-pool/slots/slots.ts";
import { createWitnesses } from "../smtp-pool/witnesses.ts";
import type { Canaries } from "./canaries.ts";
import { createMailHostLookup, type MailHostLookup } from "./mail-host-lookup.ts";
import { createProviderBeliefs, type ProviderBeliefs } from "./provider-beliefs.ts";
import { QUIET_ENGINE } from "./quiet-engine.ts";
import type { Verification } from "./result.ts";

/** The services that a verification needs. Each process builds the engine once: all callers share its sessions and caches. */
export type Engine = {
  readonly findMailHosts: MailHostLookup;
  readonly probe: Probe;
  readonly lists: Lists;
  readonly now: () => Date;
  readonly beliefs: ProviderBeliefs;
  readonly yieldToCallers: YieldToCallers;
  readonly onVerification: (result: Verification) => void;
};

export type WithEngine = { readonly engine: Engine };
export type VerifyWorld = World & WithEngine;

/** All sessions are in use, and no mail server was asked. */
export class NoCapacityError extends Error {}

/** The ports to the mail system, and the identity of this service towards mail servers. */
export type MailPorts = Pick<World, "now" | "random" | "sleep"> & {
  readonly dns: Dns;
  readonly connect: SmtpConnect;
  readonly table: Table;
  readonly lists: Lists;
  /** Blocks that are not public but allow connections all the same, such as the lab's. */
  readonly allowed: readonly Cidr[];
  readonly smtp: { readonly helo: string; readonly from: string; readonly port: number };
  /** In memory when only this process opens sessions; in the table when several processes do. */
  readonly slots: SlotPool;
  /** Absent when every provider may be probed. */
  readonly probePolicy?: ProbePolicy;
  /** The operator's existing mailboxes that serve as witnesses. Absent without witnesses. */
  readonly witnesses?: readonly string[];
  /** The names of the exits that `connect` chooses from. Absent when the process has one exit. */
  readonly exits?: readonly string[];
  /** Exits that providers know already, so they get no warm-up. */
  readonly warmExits?: readonly string[];
  readonly log?: World["log"];
  /** The limit of sessions that this process opens at once. When absent, the default in fairness.ts applies. */
  readonly sessionsMax?: number;
  /** A monotonic clock for the deadlines and caches of this process. Default `now`. */
  readonly steadyNow?: () => Date;
  readonly yieldToCallers?: YieldToCallers;
  /** Tells whether this thread had idle time lately. Absent when it always has. */
  readonly hasTime?: () => boolean;
  readonly onSession?: OnSession;
};

export const createEngine = (ports: MailPorts): Engine => {
  const beliefs = createProviderBeliefs(ports);
  return {
    ...QUIET_ENGINE,
    ...createMailQuestions(ports, beliefs.canaries),
    ...(ports.yieldToCallers && { yieldToCallers: ports.yieldToCallers }),
    beliefs,
    lists: ports.lists,
    now: ports.now,
  };
};

/** Questions to DNS and mail servers. Arguments and results are plain data, so another thread can call these functions. */
export type MailQuestions = Pick<Engine, "findMailHosts" | "probe">;

export const createMailQuestions = (
  ports: MailPorts,
  canaries: Pick<Canaries, "record">,
): MailQuestions => {
  const findMailHosts = createMailHostLookup(withSteadyClock(ports));
  const witnesses = createWitnesses({ ...ports, witnesses: ports.witnesses ?? [], findMailHosts });
  const probe = createProbe({
    ...withSteadyClock(ports),
    catchAllCache: createCatchAllCache(ports.table, ports.now),
    quota: createDailyQuota(ports),
    // The pauses are in the table and outlive the process, so they follow the clock that all processes share.
    breaker: createCircuitBreaker(ports),
    ...(ports.exits && { warmUp: createWarmUp({ ...ports, exits: listNewExits(ports) }) }),
    canaries,
    witnesses,
  });
  return {
    findMailHosts,
    probe: createProbeByPolicy(
      attributeConnectFaults(probe, ports),
      ports.probePolicy ?? NO_POLICY,
    ),
  };
};

const listNewExits = ({ exits = [], warmExits = [] }: MailPorts): readonly string[] =>
  exits.filter((exit) => !warmExits.includes(exit));

const withSteadyClock = (ports: MailPorts): MailPorts => ({
  ...ports,
  now: ports.steadyNow ?? ports.now,
});
