import { Failure } from "../lib/failure.ts";
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, toEpochSeconds } from "../lib/time.ts";
import { findItem, type Update, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import {
  hashSession,
  type Person,
  readPerson,
  readSession,
  type Session,
  toPersonKey,
  toPersonPartition,
  toSessionKey,
} from "./items.ts";

// A session is a random token in a browser's cookie. It ends 12 hours after its last use, and 7 days after it began.

const TOKEN_BYTES = 32;
const IDLE_MS = 12 * HOUR_MS;
export const SESSION_MS = 7 * DAY_MS;
/** A session in constant use costs one write per hour. */
const TOUCH_EVERY_MS = HOUR_MS;
/** Keys, invitations and secrets require a sign-in within this time. */
const FRESH_MS = 5 * MINUTE_MS;
const SESSIONS_PER_HOUR = 60;

export const generateToken = ({ randomBytes }: Pick<World, "randomBytes">): string =>
  Buffer.from(randomBytes(TOKEN_BYTES)).toString("base64url");

export type NewSession = {
  readonly token: string;
  readonly write: { readonly create: ReturnType<typeof toItem> };
};

/** The session exists once the caller has committed the write. A sign-in always makes a new one. */
export const mintSession = (world: World, person: string): NewSession => {
  const token = generateToken(world);
  const now = world.now();
  const session: Session = {
    hash: hashSession(token, world.settings.keyPepper),
    person,
    signedInAt: now.toISOString(),
    usedAt: now.toISOString(),
    endsAt: addMs(now, SESSION_MS).toISOString(),
  };
  return { token, write: { create: toItem(session, now) } };
};

const toItem = (session: Session, usedAt: Date) => ({
  ...toSessionKey(session.hash),
  ...session,
  expires_at: toExpiry(session, usedAt),
});

const toExpiry = ({ endsAt }: Session, usedAt: Date): number =>
  Math.min(toEpochSeconds(addMs(usedAt, IDLE_MS)), toEpochSeconds(new Date(endsAt)));

/** The table refuses it after too many sign-ins: each session is stored until it ends. */
export const buildSessionCount = ({ now }: Pick<World, "now">, person: string): Update => {
  const hour = Math.floor(now().getTime() / HOUR_MS);
  return {
    update: { pk: toPersonPartition(person), sk: `BEGUN#${hour}` },
    add: { begun: 1 },
    bounds: { begun: { atMost: SESSIONS_PER_HOUR } },
    set: { expires_at: toEpochSeconds(new Date((hour + 1) * HOUR_MS)) },
    orCreate: true,
  };
};

export const createTooManyFailure = (): Failure =>
  new Failure(
    "FORBIDDEN",
    "nothing_charged",
    `You signed in ${SESSIONS_PER_HOUR} times in this hour, the maximum. Sign in again in the next hour.`,
  );

/** A session and its person. */
export type SignedIn = { readonly session: Session; readonly person: Person };

/** Undefined when the session has ended, or its person is gone. */
export const findSession = async (world: World, token: string): Promise<SignedIn | undefined> => {
  const { keyPepper, keyPepperBefore } = world.settings;
  const session =
    (await findHashed(world, token, keyPepper)) ??
    (await findHashed(world, token, keyPepperBefore));
  if (!session || !isCurrent(session, world.now().getTime())) return undefined;
  const person = await findItem(world.table, toPersonKey(session.person), readPerson);
  if (!person || session.signedInAt < (person.sessionsSince ?? "")) return undefined;
  return { session, person };
};

/** A session from the future began before the clock was set back: it would last longer, and ending all would miss it. */
const isCurrent = ({ signedInAt, endsAt }: Session, now: number): boolean =>
  Date.parse(endsAt) > now && Date.parse(signedInAt) <= now + FRESH_MS;

const findHashed = async (
  { table }: World,
  token: string,
  pepper: string | null,
): Promise<Session | undefined> =>
  pepper === null
    ? undefined
    : findItem(table, toSessionKey(hashSession(token, pepper)), readSession);

/** Never fails: the next request stores a time that was lost. */
export const touchSession = async ({ table, now }: World, session: Session): Promise<void> => {
  const at = now();
  if (at.getTime() - Date.parse(session.usedAt) < TOUCH_EVERY_MS) return;
  const set = { usedAt: at.toISOString(), expires_at: toExpiry(session, at) };
  await table.write({ update: toSessionKey(session.hash), set }).catch(() => undefined);
};

export const isFresh = ({ now }: Pick<World, "now">, { signedInAt }: Session): boolean =>
  now().getTime() - Date.parse(signedInAt) <= FRESH_MS;

export const buildSessionEnd = ({ hash }: Pick<Session, "hash">): Write => ({
  remove: toSessionKey(hash),
});

/** Ends every session of the person that began before now. */
export const buildSessionsEnd = ({ now }: Pick<World, "now">, person: string): Write => ({
  update: toPersonKey(person),
  set: { sessionsSince: now().toISOString() },
});
