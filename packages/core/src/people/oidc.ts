import * as v from "valibot";
import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { decryptSecret, encryptSecret } from "../lib/secret-box.ts";
import { addMs, MINUTE_MS, toEpochSeconds } from "../lib/time.ts";
import { findItem, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { acceptInvitation, createUsedFailure, findInvitation } from "./invitations.ts";
import {
  buildChallengeUse,
  buildIdentityWrites,
  hashIdentity,
  hashToken,
  IDENTITY,
  type Identity,
  type Invitation,
  type Person,
  readIdentity,
  toIdentityKey,
  toPersonKey,
  toPersonPartition,
} from "./items.ts";
import { findPerson } from "./members.ts";
import {
  buildSessionCount,
  buildSessionEnd,
  createTooManyFailure,
  findSession,
  generateToken,
  isFresh,
  mintSession,
  type SignedIn,
} from "./sessions.ts";

// Sign-in by OpenID Connect:
//
//   startOidc    seals state, nonce and PKCE verifier into a flow, and returns the provider's page for them.
//   finishOidc   opens the flow, redeems the provider's response with it, and finds the person of issuer and subject.
//
// The browser's page keeps the flow, so nothing is stored before a sign-in, and a response works only in the browser that
// asked for it. An email address never identifies a person: it only has to match that of an invitation.

export type OidcRequest = {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The SHA-256 of the PKCE verifier, in base64url. */
  readonly challenge: string;
  /** True when the browser has a session, so that the provider asks the person again. */
  readonly isAgain: boolean;
};

export type OidcResponse = Pick<OidcRequest, "redirectUri" | "state" | "nonce"> & {
  readonly verifier: string;
  /** The query string that the provider sent to the redirect URI. */
  readonly response: string;
};

/** The claims of a verified ID token. */
export type OidcClaims = {
  readonly issuer: string;
  readonly subject: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly isEmailVerified: boolean;
};

/** The identity provider. Both functions throw a Failure: FORBIDDEN for this sign-in, UNAVAILABLE for a fault of the provider. */
export type Oidc = {
  readonly toUrl: (request: OidcRequest) => Promise<string>;
  readonly redeem: (response: OidcResponse) => Promise<OidcClaims>;
};

/** A function, because one machine loads the client of the provider with the first sign-in. */
export type WithOidc = { readonly oidc: () => Promise<Oidc> };

const FLOW_MS = 10 * MINUTE_MS;
const IDENTITIES_MAX = 20;
const PURPOSE = "sign-in by OpenID Connect";

const Flow = v.object({
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  redirectUri: v.string(),
  next: v.string(),
  /** The token of the invitation's link. */
  invitation: v.optional(v.string()),
  /** The hash of the session's token that the browser had at the start. */
  session: v.optional(v.string()),
  startedAt: v.string(),
});
type Flow = v.InferOutput<typeof Flow>;

type Start = Pick<Flow, "redirectUri" | "next" | "invitation"> & {
  readonly session: string | null;
};

export const startOidc = async (
  world: World & WithOidc,
  { redirectUri, next, invitation, session }: Start,
): Promise<{ readonly url: string; readonly flow: string }> => {
  // The person learns of a dead link before the provider asks for a password.
  if (invitation !== undefined) await getInvitation(world, invitation);
  const flow: Flow = {
    state: generateToken(world),
    nonce: generateToken(world),
    verifier: generateToken(world),
    redirectUri,
    next,
    ...(invitation !== undefined && { invitation }),
    ...(session !== null && { session: hashToken(session) }),
    startedAt: world.now().toISOString(),
  };
  const oidc = await world.oidc();
  const url = await oidc.toUrl({
    ...flow,
    challenge: hashToken(flow.verifier),
    isAgain: session !== null,
  });
  return { url, flow: encryptSecret(world, PURPOSE, JSON.stringify(flow)) };
};

type Finish = {
  readonly flow: string;
  readonly response: string;
  readonly session: string | null;
};

export type Finished = {
  readonly person: string;
  readonly account: string | null;
  /** The token of the new session. */
  readonly token: string;
  readonly next: string;
};

export const finishOidc = async (
  world: World & WithOidc,
  { flow: sealed, response, session }: Finish,
): Promise<Finished> => {
  const flow = openFlow(world, sealed);
  if (new URLSearchParams(response).get("state") !== flow.state)
    throw refuse("The identity provider's response belongs to another sign-in. Start it again.");
  const oidc = await world.oidc();
  const claims = await oidc.redeem({ ...flow, response });
  const invitation =
    flow.invitation === undefined ? undefined : await getInvitation(world, flow.invitation);
  if (invitation) assertInvited(invitation, claims);
  const hash = hashIdentity(claims.issuer, claims.subject);
  const [identity, current] = await Promise.all([
    findItem(world.table, toIdentityKey(hash), readIdentity),
    session === null ? undefined : findSession(world, session),
  ]);
  const own = current && flow.session === hashToken(session ?? "") ? current : undefined;
  const person = identity
    ? await findPerson(world.table, identity.person)
    : findConnecting(flow, own, invitation);
  if (!identity) await assertRoom(world, invitation?.person ?? person?.id);
  const toWrites = (id: string): readonly Write[] => [
    buildChallengeUse(flow.state, toEpochSeconds(getFlowEnd(flow))),
    ...(current ? [buildSessionEnd(current.session)] : []),
    ...(identity
      ? [{ check: toIdentityKey(hash), where: { person: id } }]
      : buildIdentityWrites(toIdentity(world, claims, id))),
  ];
  const accepted = invitation
    ? await accept(world, invitation, { claims, person, toWrites })
    : await beginSession(world, { claims, person, toWrites });
  return { ...accepted, next: flow.next };
};

const refuse = (what: string): Failure => new Failure("FORBIDDEN", "nothing_charged", what);

const getFlowEnd = ({ startedAt }: Flow): Date => addMs(new Date(startedAt), FLOW_MS);

const openFlow = (world: World, sealed: string): Flow => {
  const text = decryptSecret(world, PURPOSE, sealed);
  const { success, output } = v.safeParse(Flow, text === undefined ? text : JSON.parse(text));
  if (!success) throw refuse("This sign-in was not started here. Start it again.");
  if (getFlowEnd(output) <= world.now())
    throw refuse("This sign-in took longer than 10 minutes. Start it again.");
  return output;
};

const getInvitation = async (world: World, token: string): Promise<Invitation> => {
  const invitation = await findInvitation(world, token);
  if (!invitation) throw createUsedFailure();
  return invitation;
};

const assertInvited = ({ email }: Invitation, claims: OidcClaims): void => {
  if (email === undefined) return;
  if (claims.email?.toLowerCase() !== email.toLowerCase())
    throw refuse(
      `This invitation is for ${email}, and you signed in with ${claims.email ?? "no address"}. The invitation can still be used.`,
    );
  if (!claims.isEmailVerified)
    throw refuse(
      `This invitation is for ${email}, and the identity provider has not verified that the address is yours. The invitation can still be used.`,
    );
};

/** The signed-in person who connects an unknown identity; undefined when the invitation makes a new person. */
const findConnecting = (
  { startedAt }: Flow,
  own: SignedIn | undefined,
  invitation: Invitation | undefined,
): Person | undefined => {
  if (invitation?.kind === "return") return undefined;
  if (own && isFresh({ now: () => new Date(startedAt) }, own.session)) return own.person;
  if (own)
    throw new Failure(
      "FORBIDDEN",
      "nothing_charged",
      `${own.person.name} is signed in here without this identity. To connect it, sign in again first; if you are somebody else, sign out first.`,
      { details: { sign_in_again: true } },
    );
  if (!invitation)
    throw refuse("No person of this service has this identity. Ask for an invitation.");
  return undefined;
};

const assertRoom = async ({ table }: World, person: string | undefined): Promise<void> => {
  if (person === undefined) return;
  const limit = IDENTITIES_MAX;
  const query = { pk: toPersonPartition(person), sk: { prefix: IDENTITY }, limit };
  if ((await table.query(query)).items.length < limit) return;
  throw refuse(`You already have ${limit} identities, the maximum.`);
};

const toIdentity = (world: World, claims: OidcClaims, person: string): Identity => {
  const label = claims.email ?? claims.name;
  return {
    hash: hashIdentity(claims.issuer, claims.subject),
    person,
    issuer: claims.issuer,
    ...(label !== undefined && { label }),
    createdAt: world.now().toISOString(),
  };
};

type Found = {
  readonly claims: OidcClaims;
  readonly person: Person | undefined;
  /** The writes of every sign-in, beside the session. */
  readonly toWrites: (person: string) => readonly Write[];
};

const accept = (world: World, invitation: Invitation, { claims, person, toWrites }: Found) => {
  if (invitation.kind === "return" && person && person.id !== invitation.person)
    throw refuse("This identity belongs to another person than the link.");
  return acceptInvitation(world, invitation, {
    person,
    name: claims.name ?? claims.email ?? "Member",
    verifiedEmail: claims.isEmailVerified ? claims.email : undefined,
    also: toWrites,
  });
};

const beginSession = async (
  world: World,
  { claims: { email, isEmailVerified }, person, toWrites }: Found,
): Promise<Omit<Finished, "next">> => {
  if (!person) throw refuse("The person of this identity was removed. Ask for an invitation.");
  const { token, write } = mintSession(world, person.id);
  const isFirstEmail = person.email === undefined && isEmailVerified;
  const count = buildSessionCount(world, person.id);
  const result = await commit(world, {
    proof: write,
    also: [
      count,
      ...toWrites(person.id),
      isFirstEmail
        ? { update: toPersonKey(person.id), set: { email } }
        : { check: toPersonKey(person.id), where: { id: person.id } },
    ],
  });
  if (result.outcome === "committed") return { person: person.id, account: null, token };
  if (result.outcome === "refused" && result.refusedWrite === count) throw createTooManyFailure();
  if (result.outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether the sign-in succeeded. Start it again.",
    );
  throw refuse("This sign-in was used, or the identity changed meanwhile. Start it again.");
};
