import * as v from "valibot";
import type { Tried } from "../mail/smtp/connect.ts";
import { isFault } from "../mail/smtp/wire.ts";
import { isAhead } from "../moments.ts";
import { redact } from "../redact.ts";
import type { Fields, Item, Key, Where } from "../table.ts";
import { SESSION_MS } from "./hold-session.ts";
import { PAUSE_MS, type Rest, type Said } from "./places.ts";
import { type Ended, REST_MS_MAX, restAfter } from "./rest.ts";

// Layout. What all processes know of an operator is one item, and a small one: so a place is taken by a write that
// has the place free and the operator open as its condition, and one read tells everything before it.
//
//   pk               sk      what
//   OPERATOR#<name>  SHARED  place_<n>: "<until, ms> <token>", whose place it is, and until when at most
//                            closed_until (ms), rests in a row, and what it said: after a 421
//                            wanted_until (ms): somebody waits for a place

export type Shared = v.InferOutput<typeof Shared> & {
  readonly places: ReadonlyMap<number, string>;
};

/** Longer than any session lasts, with what is read before it and written after: a crash leaks a place no longer. */
export const LEASE_MS = SESSION_MS + 30_000;
/** Nobody's business for so long, it is forgotten, with its rests. */
const KEPT_SECONDS = 1_800;
/** Longer than all who wait pause, so that none of them is overlooked. */
const WANTED_MS = 3 * PAUSE_MS;
const SAID_CHARS_MAX = 200;

const STAGES = ["connect", "greeting", "ehlo", "starttls", "mail", "rcpt"] as const;

const Shared = v.object({
  closed_until: v.optional(v.number(), 0),
  rests: v.optional(v.number(), 0),
  wanted_until: v.optional(v.number(), 0),
  said: v.optional(
    v.object({
      host: v.string(),
      ip: v.string(),
      stage: v.picklist(STAGES),
      code: v.number(),
      enhanced: v.nullable(v.string()),
      text: v.string(),
    }),
  ),
});

export const sharedKey = (operator: string): Key => ({ pk: `OPERATOR#${operator}`, sk: "SHARED" });

export const readShared = (item: Item | undefined): Shared => ({
  ...v.parse(Shared, item ?? {}),
  places: new Map(Object.entries(item ?? {}).flatMap(placeIn)),
});

const placeIn = ([field, value]: [string, unknown]): [number, string][] =>
  field.startsWith(PLACE) && typeof value === "string"
    ? [[Number(field.slice(PLACE.length)), value]]
    : [];

export const placeField = (place: number): string => `${PLACE}${place}`;
const PLACE = "place_";

export const placeText = (token: string, atMs: number): string => `${atMs + LEASE_MS} ${token}`;

/** The places that somebody has. */
export const takenPlaces = ({ places }: Shared, atMs: number): readonly number[] =>
  [...places].flatMap(([place, text]) => (isOver(text, atMs) ? [] : [place]));

const isOver = (text: string, atMs: number): boolean =>
  !isAhead(Number(text.split(" ", 1)[0]), atMs, LEASE_MS);

const isClosed = ({ closed_until }: Shared, atMs: number): boolean =>
  isAhead(closed_until, atMs, REST_MS_MAX);

export const restOf = (shared: Shared, atMs: number): Rest | null => {
  const { closed_until, rests, said } = shared;
  return isClosed(shared, atMs)
    ? { ms: closed_until - atMs, rests, said: said ? heard(said) : null }
    : null;
};

const heard = ({ host, ip, stage, ...reply }: NonNullable<Shared["said"]>): Said => ({
  host,
  ip,
  stage,
  reply,
});

/** What a session changes for all: nothing while the operator rests, for then it was heard already. */
export const changeAfter = (shared: Shared, ended: Ended, atMs: number): Fields | null => {
  if (isClosed(shared, atMs)) return null;
  const { ms, rests } = restAfter(shared.rests, ended);
  if (ms === 0 && rests === shared.rests) return null;
  return {
    rests: rests || undefined,
    ...(ms > 0 && { closed_until: atMs + ms }),
    ...(ended.refusal && { said: saidIn(ended.refusal) }),
  };
};

/** What the server says may name whom it was asked about, and that is nobody else's business. */
const saidIn = ({ host, ip, result: { ending } }: Tried): Fields | undefined => {
  if (!ending || isFault(ending.heard)) return undefined;
  const { code, enhanced, text } = ending.heard;
  const short = String(redact(text)).slice(0, SAID_CHARS_MAX).toWellFormed();
  return { host, ip, stage: ending.stage, code, enhanced, text: short };
};

/** That nobody closed the operator since. */
export const closingAsSeen = ({ closed_until }: Shared): Where => ({
  closed_until: closed_until || MISSING,
});

/** And that nobody ended the row of its rests. */
export const asSeen = (shared: Shared): Where => ({
  ...closingAsSeen(shared),
  rests: shared.rests || MISSING,
});

export const placeAsSeen = ({ places }: Shared, place: number): Where => ({
  [placeField(place)]: places.get(place) ?? MISSING,
});

const MISSING = { missing: true } as const;

/** What every write sets. */
export const kept = (atMs: number): Fields => ({
  expires_at: Math.ceil(atMs / 1000) + KEPT_SECONDS,
});

export const wanted = (atMs: number): Fields => ({ wanted_until: atMs + WANTED_MS });

export const isWanted = ({ wanted_until }: Shared, atMs: number): boolean =>
  isAhead(wanted_until, atMs, WANTED_MS);

/** Told once for all who wait, and again when it is about to be forgotten. */
export const isWantedLong = (shared: Shared, atMs: number): boolean =>
  isWanted(shared, atMs) && shared.wanted_until - atMs > WANTED_MS / 2;
