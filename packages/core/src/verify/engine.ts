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

/** What verifying needs of the world. Each process builds it once: all callers share its sessions and caches. */
export type Engine = {
  readonly findMailHosts: MailHostLookup;
  readonly probe: Probe;
  readonly lists: Lists;
  readonly now: () => Date;
  readonly beliefs: ProviderBeliefs;
  readonly yieldToCallers: YieldToCallers;
  /** Called with each result, for figures. */
  readonly onVerification: (result: Verification) => void;
};

/** For functions that verify: the way to mail servers. */
export type WithEngine = { readonly engine: Engine };
export type VerifyWorld = World & WithEngine;

/** All sessions are in use, and no mail server was asked. */
export class NoCapacityError extends Error {}

/** The ports to the mail system, and how the operator wants this service to appear to mail servers. */
export type MailPorts = Pick<World, "now" | "random" | "sleep"> & {
  readonly dns: Dns;
  readonly connect: SmtpConnect;
  readonly table: Table;
  readonly lists: Lists;
  /** Blocks that are not public and may be connected to all the same, such as the lab's. */
  readonly allowed: readonly Cidr[];
  readonly smtp: { readonly helo: string; readonly from: string; readonly port: number };
  /** In memory when this is the only process that opens sessions; in the table when there are several. */
  readonly slots: SlotPool;
  /** Absent: every provider is probed. */
  readonly probePolicy?: ProbePolicy;
  /** Mailboxes of the operator's that exist. Absent: none. */
  readonly witnesses?: readonly string[];
  /** The exits that `connect` chooses from, by name. Absent: the process has one. */
  readonly exits?: readonly string[];
  /** Those that providers know already, so that they get no warm-up. */
  readonly warmExits?: readonly string[];
  /** Absent: nothing is logged. */
  readonly log?: World["log"];
  /** How many sessions this process may have open at a time. Absent: the default in fairness.ts. */
  readonly sessionsMax?: number;
  /** A monotonic clock for the deadlines and caches of this process. Absent: `now`. */
  readonly steadyNow?: () => Date;
  readonly yieldToCallers?: YieldToCallers;
  /** Called when a session has ended, for metrics and traces. */
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

/** What DNS and mail servers are asked: plain data in and out, so another thread can ask it. */
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
    // The pauses are in the table and outlive the process, so they end by the clock that all processes have.
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
