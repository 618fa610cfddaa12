import { createHash } from "node:crypto";
import type { MailHost } from "../mail/dns/mail-hosts.ts";
import { findProvider, getLimits, PROVIDER_CONNECTIONS } from "../mail/smtp/limits.ts";
import type { Reply } from "../mail/smtp/reply.ts";
import type { RecipientResult } from "../mail/smtp/session.ts";
import type { SessionEnd } from "./backoff.ts";

/** Where a session wants to go. */
export type SlotKey = {
  readonly providerKey: string;
  readonly host: string;
  /** How many the operator bears, on all its hosts together. */
  readonly connections: number;
  /** Which of them this host may have, counted from 0. */
  readonly slots: readonly number[];
};

/** What made an operator rest, as far as whoever did not hear it needs to know. */
export type ProviderRefusal = {
  readonly host: string;
  readonly ip: string;
  readonly stage: RecipientResult["stage"];
  readonly reply: Reply;
};

/** `ms`: for how long yet. `rests`: so many in a row. */
export type ProviderBackoff = {
  readonly ms: number;
  readonly failures: number;
  readonly refusal: ProviderRefusal | null;
};

export type Slot = {
  /**
   * Gives the place back, and tells all others what was met there; null when the session was not with this operator
   * after all. It comes to the operator's rest, or to null when there is nothing to add to what this process knows.
   */
  release(end: SessionEnd | null): Promise<ProviderBackoff | null>;
};

/**
 * The door to what all processes of ours have open together: one place is one session. What cannot be shared at the
 * moment is left to the process's own count.
 */
export type SlotPool = {
  /** False while this process knows already that it would get none. */
  mayAcquire(slotKey: SlotKey): boolean;
  /** Never rejects. */
  acquire(slotKey: SlotKey): Promise<SlotResult>;
};

export type SlotResult = Slot | ProviderBackoff | "full";

export const isSlot = (result: SlotResult): result is Slot =>
  typeof result === "object" && "release" in result;

/** Counted by nobody but this process. */
export const LOCAL_SLOT: Slot = { release: async () => null };

/** For the only process there is: its own count says it all. */
export const localSlots: SlotPool = { mayAcquire: () => true, acquire: async () => LOCAL_SLOT };

/** A provider under all its names, or one address, whatever order an answer of DNS had its addresses in. */
export const toSlotKey = (at: MailHost | undefined): SlotKey => {
  const host = at?.host ?? "";
  const provider = findProvider(host);
  const { connections: hostConnections } = getLimits(provider);
  if (provider === "other") {
    const providerKey = at?.ips.toSorted()[0] ?? "";
    return { providerKey, host, connections: hostConnections, slots: ALL_SLOTS };
  }
  const connections = PROVIDER_CONNECTIONS;
  const providerKey = provider;
  return { providerKey, host, connections, slots: listSlots(host, hostConnections, connections) };
};

const ALL_SLOTS = [...Array(getLimits("other").connections).keys()];

/**
 * A host that bears less than its operator always has the same ones of the operator's places: so one place keeps
 * both counts. Two such hosts may have one in common; then they take turns.
 */
const listSlots = (host: string, hostConnections: number, connections: number): number[] => {
  const first = hashToNumber(host);
  return Array.from({ length: hostConnections }, (_, n) => (first + n) % connections);
};

const hashToNumber = (text: string): number =>
  createHash("sha256").update(text).digest().readUInt32BE();

/** Whoever finds no place tries again after a while that chance decides: all who wait would else come at once. */
export const getJitteredPauseMs = (random: () => number): number =>
  PAUSE_MS / 5 + random() * PAUSE_MS;

export const PAUSE_MS = 1_000;
