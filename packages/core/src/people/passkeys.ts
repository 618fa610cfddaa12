import { signCursor, verifyCursor } from "../lib/cursor.ts";
import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, MINUTE_MS, toEpochSeconds } from "../lib/time.ts";
import { type Create, findItem, type Table, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import {
  buildChallengeUse,
  buildPasskeyRemoval,
  buildPasskeyWrites,
  IDENTITY,
  PASSKEY,
  type Passkey,
  readIdentity,
  readPasskey,
  toIdentityMirrorKey,
  toPasskeyKey,
  toPasskeyMirrorKey,
  toPersonKey,
  toPersonPartition,
} from "./items.ts";
import {
  buildSessionCount,
  buildSessionEnd,
  createTooManyFailure,
  findSession,
  mintSession,
} from "./sessions.ts";

// A passkey is a key pair in a person's authenticator (WebAuthn, https://www.w3.org/TR/webauthn-3). The browser lets the person
// choose one of this host, so nobody types an address here.
//
// 1. `createSignInOptions` or `createPasskeyOptions` makes a challenge. The table does not store it: a MAC protects its
//    expiry, purpose, person and origin.
// 2. The authenticator signs the challenge, the origin and its counter.
// 3. `signInByPasskey` or `addPasskey` checks all of them. The transaction that stores the session or the passkey also stores
//    that the challenge was used.

const CHALLENGE_MS = 5 * MINUTE_MS;
const RANDOM_BYTES = 16;
const PASSKEYS_MAX = 20;
/** In base64url. DynamoDB limits a sort key to 1,024 bytes, and WebAuthn an id to 1,364 characters; real ids have under 400. */
export const PASSKEY_ID_LENGTH_MAX = 700;
/** EdDSA, ES256 and RS256. By default the library also accepts an experimental key of 1,322 bytes. */
export const ALGORITHMS = [-8, -7, -257];

type Credential<Response> = {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: Response & { readonly clientDataJSON: string };
};

/** RegistrationResponseJSON of WebAuthn. */
export type PasskeyCreation = Credential<{
  readonly attestationObject: string;
  readonly transports?: string[] | undefined;
}>;

/** AuthenticationResponseJSON of WebAuthn. */
export type PasskeyUse = Credential<{
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle?: string | undefined;
}>;

type Expected = { readonly challenge: string; readonly origin: string };

/** A port, because the library is larger than any Lambda. Undefined when the response is not valid. */
export type PasskeyVerifier = {
  readonly verifyCreation: (
    response: PasskeyCreation,
    expected: Expected,
  ) => Promise<Pick<Passkey, "id" | "publicKey" | "counter" | "transports"> | undefined>;
  /** Returns the authenticator's counter, which the caller compares. */
  readonly verifyUse: (
    response: PasskeyUse,
    expected: Expected & Pick<Passkey, "publicKey">,
  ) => Promise<number | undefined>;
};

export type WithPasskeys = { readonly passkeys: PasskeyVerifier };
type PasskeyWorld = World & WithPasskeys;

const toHost = (origin: string): string => new URL(origin).hostname;
const toUserHandle = (person: string): string => Buffer.from(person).toString("base64url");

/** `person` is null for a sign-in, whose person is not known yet. */
type Purpose = { readonly person: string | null; readonly origin: string };

const toBinding = ({ person, origin }: Purpose): string =>
  JSON.stringify(["passkey", person, origin]);

const createChallenge = (world: World, purpose: Purpose): string => {
  const random = Buffer.from(world.randomBytes(RANDOM_BYTES)).toString("base64url");
  const expiresAt = toEpochSeconds(addMs(world.now(), CHALLENGE_MS));
  return signCursor(world.settings, toBinding(purpose), [random, expiresAt]);
};

type Challenge = { readonly text: string; readonly use: Write };

/** Undefined when this service did not make the challenge for this purpose, or when it has expired. */
const readChallenge = (
  world: World,
  purpose: Purpose,
  { clientDataJSON }: { readonly clientDataJSON: string },
): Challenge | undefined => {
  const text = findChallenge(clientDataJSON);
  const signed = text && verifyCursor(world.settings, toBinding(purpose), text);
  if (!signed) return undefined;
  const [, expiresAt] = signed as [random: string, expiresAt: number];
  if (toEpochSeconds(world.now()) >= expiresAt) return undefined;
  // The item lasts as long as the challenge.
  return { text, use: buildChallengeUse(text, expiresAt) };
};

const findChallenge = (clientDataJSON: string): string | undefined => {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString());
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    return undefined;
  }
};

/** PublicKeyCredentialRequestOptionsJSON of WebAuthn. Without a list of passkeys the browser offers all of this host. */
export const createSignInOptions = (world: World, origin: string) => ({
  challenge: createChallenge(world, { person: null, origin }),
  rpId: toHost(origin),
  userVerification: "required",
  timeout: CHALLENGE_MS,
});

type Named = { readonly id: string; readonly name: string };

/** PublicKeyCredentialCreationOptionsJSON of WebAuthn. */
export const createPasskeyOptions = async (world: World, { id, name }: Named, origin: string) => {
  const passkeys = await listPasskeys(world.table, id);
  assertRoom(passkeys);
  return {
    challenge: createChallenge(world, { person: id, origin }),
    rp: { id: toHost(origin), name: "Mailproof" },
    user: { id: toUserHandle(id), name, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    excludeCredentials: passkeys.map((one) => ({
      type: "public-key",
      id: one.id,
      ...(one.transports && { transports: one.transports }),
    })),
    attestation: "none",
    timeout: CHALLENGE_MS,
  };
};

export const listPasskeys = async (table: Table, person: string): Promise<readonly Passkey[]> => {
  const query = { pk: toPersonPartition(person), sk: { prefix: PASSKEY } };
  return (await Array.fromAsync(paginateQuery(table, query))).map(readPasskey);
};

const assertRoom = ({ length }: readonly Passkey[]): void => {
  if (length < PASSKEYS_MAX) return;
  const what = `You already have ${PASSKEYS_MAX} passkeys, the maximum. Remove one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

type Sent<Response> = { readonly response: Response; readonly origin: string };

export const addPasskey = async (
  world: PasskeyWorld,
  person: string,
  { response, origin, name }: Sent<PasskeyCreation> & Pick<Passkey, "name">,
): Promise<Passkey> => {
  const challenge = readChallenge(world, { person, origin }, response.response);
  const expected = challenge && { challenge: challenge.text, origin };
  const made = expected && (await world.passkeys.verifyCreation(response, expected));
  if (!made) throw createRefusal();
  assertRoom(await listPasskeys(world.table, person));
  const createdAt = world.now().toISOString();
  const passkey: Passkey = { ...made, person, name, host: toHost(origin), createdAt };
  const [proof, ...also] = buildPasskeyWrites(passkey);
  const { outcome } = await commit(world, {
    proof: proof as Create,
    also: [...also, challenge.use, { check: toPersonKey(person), where: { id: person } }],
  });
  if (outcome === "committed") return passkey;
  if (outcome === "refused") throw createRefusal();
  throw createUnavailableFailure("It is not known whether the passkey was added.");
};

/** Begins a session, and ends the one that this browser had. */
export const signInByPasskey = async (
  world: PasskeyWorld,
  { response, origin, session }: Sent<PasskeyUse> & { readonly session: string | null },
): Promise<{ readonly person: string; readonly token: string }> => {
  const challenge = readChallenge(world, { person: null, origin }, response.response);
  const passkey =
    challenge && (await findItem(world.table, toPasskeyKey(response.id), readPasskey));
  if (!passkey || passkey.host !== toHost(origin)) throw createRefusal();
  const { id, person, publicKey, counter } = passkey;
  if (response.response.userHandle !== toUserHandle(person)) throw createRefusal();
  const expected = { challenge: challenge.text, origin, publicKey };
  const counted = await world.passkeys.verifyUse(response, expected);
  if (counted === undefined) throw createRefusal();
  if (isCopy(counter, counted)) {
    world.log("passkey_copied", { passkey: id, person, counter, counted });
    throw createRefusal();
  }
  const begun = mintSession(world, person);
  const earlier = session === null ? undefined : await findSession(world, session);
  const usedAt = world.now().toISOString();
  const count = buildSessionCount(world, person);
  const result = await commit(world, {
    proof: begun.write,
    also: [
      challenge.use,
      count,
      {
        update: toPasskeyKey(id),
        set: { counter: counted, usedAt },
        // Refused when the passkey was removed, or another sign-in has moved the counter.
        where: { person, counter },
      },
      { update: toPasskeyMirrorKey(passkey), set: { usedAt }, where: { person } },
      ...(earlier ? [buildSessionEnd(earlier.session)] : []),
    ],
  });
  if (result.outcome === "committed") return { person, token: begun.token };
  if (result.outcome === "refused")
    throw result.refusedWrite === count ? createTooManyFailure() : createRefusal();
  throw createUnavailableFailure("It is not known whether you are signed in.");
};

/** A counter that does not grow belongs to a copy of the authenticator. Many authenticators do not count and send 0 each time. */
const isCopy = (before: number, now: number): boolean => (before > 0 || now > 0) && now <= before;

/** One message for every fault: the reason would only help an attacker. */
const createRefusal = (): Failure =>
  new Failure(
    "FORBIDDEN",
    "nothing_charged",
    "This passkey was not accepted. Try again, or use another way to sign in.",
  );

/** Throws for the last way to sign in at this host: a passkey of another host does not work here. */
export const removePasskey = async (
  { table }: World,
  { person, id, origin }: Pick<Passkey, "person" | "id"> & { readonly origin: string },
): Promise<void> => {
  const passkeys = await listPasskeys(table, person);
  if (!passkeys.some((one) => one.id === id))
    throw new Failure("NOT_FOUND", "nothing_charged", "You have no passkey with this id.");
  const other = passkeys.find((one) => one.id !== id && one.host === toHost(origin));
  const kept = other ? toPasskeyMirrorKey(other) : await findIdentity(table, person);
  // The check keeps two requests from removing each other's remaining passkey.
  if (!kept) throw new Failure("FORBIDDEN", "nothing_charged", LAST_WAY);
  const check = { check: kept, where: { person } };
  const result = await table.transact([...buildPasskeyRemoval({ id, person }), check]);
  if (result.outcome === "ambiguous")
    throw createUnavailableFailure("It is not known whether the passkey was removed.");
  // Otherwise "refused" means that another request has removed the passkey.
  if (result.outcome === "refused" && result.refusedWrite === check)
    throw createUnavailableFailure("Your passkeys changed meanwhile. Send the request again.");
};

const LAST_WAY =
  "This is your only way to sign in. Add another passkey or an identity first, then remove this one.";

const findIdentity = async (table: Table, person: string) => {
  const query = { pk: toPersonPartition(person), sk: { prefix: IDENTITY }, limit: 1 };
  const [found] = (await table.query(query)).items;
  return found && toIdentityMirrorKey(readIdentity(found));
};
