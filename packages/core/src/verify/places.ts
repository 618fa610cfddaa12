import { createHash } from "node:crypto";
import type { MailHost } from "../mail/mail-hosts.ts";
import { limitsOf, PROVIDER_CONNECTIONS, providerOf } from "../mail/smtp/limits.ts";
import type { Reply } from "../mail/smtp/reply.ts";
import type { Asked } from "../mail/smtp/session.ts";
import type { Ended } from "./rest.ts";

/** Where a session wants to go. */
export type Spot = {
  readonly operator: string;
  readonly host: string;
  /** How many the operator bears, on all its hosts together. */
  readonly connections: number;
  /** Which of them this host may have, counted from 0. */
  readonly places: readonly number[];
};

/** What made an operator rest, as far as whoever did not hear it needs to know. */
export type Said = {
  readonly host: string;
  readonly ip: string;
  readonly stage: Asked["stage"];
  readonly reply: Reply;
};

/** `ms`: for how long yet. `rests`: so many in a row. */
export type Rest = { readonly ms: number; readonly rests: number; readonly said: Said | null };

export type Place = {
  /**
   * Gives the place back, and tells all others what was met there; null when the session was not with this operator
   * after all. It comes to the operator's rest, or to null when there is nothing to add to what this process knows.
   */
  give(ended: Ended | null): Promise<Rest | null>;
};

/**
 * The door to what all processes of ours have open together: one place is one session. What cannot be shared at the
 * moment is left to the process's own count.
 */
export type Places = {
  /** False while this process knows already that it would get none. */
  mayHave(spot: Spot): boolean;
  /** Never rejects. */
  take(spot: Spot): Promise<Taken>;
};

export type Taken = Place | Rest | "full";

export const isPlace = (taken: Taken): taken is Place =>
  typeof taken === "object" && "give" in taken;

/** Counted by nobody but this process. */
export const OWN_PLACE: Place = { give: async () => null };

/** For the only process there is: its own count says it all. */
export const ownPlaces: Places = { mayHave: () => true, take: async () => OWN_PLACE };

/** A provider under all its names, or one address, whatever order an answer of DNS had its addresses in. */
export const spotOf = (at: MailHost | undefined): Spot => {
  const host = at?.host ?? "";
  const provider = providerOf(host);
  const { connections: hostConnections } = limitsOf(provider);
  if (provider === "other") {
    const operator = at?.ips.toSorted()[0] ?? "";
    return { operator, host, connections: hostConnections, places: ALL_PLACES };
  }
  const connections = PROVIDER_CONNECTIONS;
  const operator = provider;
  return { operator, host, connections, places: placesOf(host, hostConnections, connections) };
};

const ALL_PLACES = [...Array(limitsOf("other").connections).keys()];

/**
 * A host that bears less than its operator always has the same ones of the operator's places: so one place keeps
 * both counts. Two such hosts may have one in common; then they take turns.
 */
const placesOf = (host: string, hostConnections: number, connections: number): number[] => {
  const first = hashOf(host);
  return Array.from({ length: hostConnections }, (_, n) => (first + n) % connections);
};

const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

/** Whoever finds no place tries again after a while that chance decides: all who wait would else come at once. */
export const pauseMs = (random: () => number): number => PAUSE_MS / 5 + random() * PAUSE_MS;

export const PAUSE_MS = 1_000;
