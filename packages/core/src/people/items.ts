import { createHash } from "node:crypto";
import * as v from "valibot";
import { hashKey } from "../accounts/key-format.ts";
import { AREAS } from "../accounts/scopes.ts";
import { StoredHalves } from "../money/balance.ts";
import type { Item, Key, Write } from "../ports/table.ts";
import { ROLES } from "./roles.ts";

// Layout. A membership, an identity and a passkey have two items each: one for the look-up, and a mirror in the person's
// partition. One transaction writes or removes both.
//
//   pk                     sk                     content
//   PERSON#<person>        PERSON                 the person's name and email; in the index: PEOPLE
//   PERSON#<person>        ACCOUNT#<account>      mirror of a membership
//   PERSON#<person>        IDENTITY#<hash>        mirror of an identity: its issuer
//   PERSON#<person>        PASSKEY#<credential>   mirror of a passkey: its name
//   PERSON#<person>        BEGUN#<hour>           begun: the number of sessions that began in the hour
//   IDENTITY#<hash>        IDENTITY               the person of an identity provider's subject
//   PASSKEY#<credential>   PASSKEY                the public key, counter and person of a passkey
//   MEMBERS#<account>      <person>               a member's role and limits
//   OWNERS#<account>       OWNERS                 owners: their number, so that the last owner stays
//   INVITE#<hash>          INVITE                 an invitation, found by its link
//   INVITES#<account>      <id>                   mirror of an invitation, for the list
//   SESSION#<hmac>         SESSION                a person's session in one browser
//   CHALLENGE#<hash>       CHALLENGE              a challenge of a sign-in that was used
//   PEOPLE                 PEOPLE                 present once a person exists: then the start prints no link

const Person = v.object({
  id: v.string(),
  name: v.string(),
  /** Verified by an identity provider, or the address of the invitation. Absent when it is unknown. */
  email: v.optional(v.string()),
  createdAt: v.string(),
  /** The person wants no mail. Invitations are sent all the same. */
  noMail: v.optional(v.literal(true)),
  /** Sessions that began earlier have ended. */
  sessionsSince: v.optional(v.string()),
});
export type Person = Readonly<v.InferOutput<typeof Person>>;

const Member = v.object({
  account: v.string(),
  person: v.string(),
  role: v.picklist(ROLES),
  since: v.string(),
  /** When the role or the limits changed. A session that began earlier is not accepted for the account. */
  changedAt: v.optional(v.string()),
  area: v.optional(v.picklist(AREAS)),
  /** The most that the member may spend in a month (UTC). */
  monthlyHalves: v.optional(StoredHalves),
});
export type Member = Readonly<v.InferOutput<typeof Member>>;

/**
 * first: makes the first person of this service, and an account if `account` is null. member: makes a member of the account.
 * return: signs in an existing person who has lost every other way.
 */
export const INVITATION_KINDS = ["first", "member", "return"] as const;

const Invitation = v.object({
  id: v.string(),
  hash: v.string(),
  kind: v.picklist(INVITATION_KINDS),
  account: v.nullable(v.string()),
  role: v.picklist(ROLES),
  /** The person who invited, or null when the operator did. */
  invitedBy: v.nullable(v.string()),
  /** Only a person whose identity provider verified this address may accept, where a provider is set. */
  email: v.optional(v.string()),
  /** The existing person of a `return`. */
  person: v.optional(v.string()),
  area: v.optional(v.picklist(AREAS)),
  monthlyHalves: v.optional(StoredHalves),
  createdAt: v.string(),
  expires_at: v.number(),
});
export type Invitation = Readonly<v.InferOutput<typeof Invitation>>;

const Session = v.object({
  hash: v.string(),
  person: v.string(),
  /** The last sign-in: keys, invitations and secrets require a recent one. */
  signedInAt: v.string(),
  /** Stored at most once an hour. */
  usedAt: v.string(),
  endsAt: v.string(),
});
export type Session = Readonly<v.InferOutput<typeof Session>>;

const Identity = v.object({
  hash: v.string(),
  person: v.string(),
  issuer: v.string(),
  /** The provider's address or name of the person, to tell identities apart. */
  label: v.optional(v.string()),
  createdAt: v.string(),
});
export type Identity = Readonly<v.InferOutput<typeof Identity>>;

const Passkey = v.object({
  /** The credential's id in base64url. */
  id: v.string(),
  person: v.string(),
  name: v.string(),
  publicKey: v.string(),
  counter: v.number(),
  transports: v.optional(v.array(v.string())),
  /** The host name that the passkey was made for. */
  host: v.string(),
  createdAt: v.string(),
  usedAt: v.optional(v.string()),
});
export type Passkey = Readonly<v.InferOutput<typeof Passkey>>;

export const toPersonKey = (person: string): Key => ({
  pk: toPersonPartition(person),
  sk: "PERSON",
});
export const toPersonPartition = (person: string): string => `PERSON#${person}`;
export const readPerson = (item: Item): Person => v.parse(Person, item);
export const PEOPLE = "PEOPLE";
export const createPerson = (person: Person): Write => ({
  create: {
    ...toPersonKey(person.id),
    list_pk: PEOPLE,
    list_sk: `${person.createdAt}#${person.id}`,
    ...person,
  },
});

export const toMembersPartition = (account: string): string => `MEMBERS#${account}`;
export const toMemberKey = (account: string, person: string): Key => ({
  pk: toMembersPartition(account),
  sk: person,
});
export const toMembershipKey = (account: string, person: string): Key => ({
  pk: toPersonPartition(person),
  sk: `${MEMBERSHIP}${account}`,
});
export const MEMBERSHIP = "ACCOUNT#";
export const readMember = (item: Item): Member => v.parse(Member, item);

export const toOwnersKey = (account: string): Key => ({ pk: `OWNERS#${account}`, sk: "OWNERS" });

/** Refused when no owner would be left. */
export const countOwners = (account: string, change: 1 | -1): Write => ({
  update: toOwnersKey(account),
  add: { owners: change },
  bounds: { owners: { atLeast: 1 } },
  orCreate: true,
});

export const buildMemberWrites = (member: Member): Write[] => [
  { create: { ...toMemberKey(member.account, member.person), ...member } },
  { create: { ...toMembershipKey(member.account, member.person), ...member } },
  ...(member.role === "owner" ? [countOwners(member.account, 1)] : []),
];

/** The hash of an invitation's or a session's token, which is all that is stored of it. */
export const hashToken = (token: string): string =>
  createHash("sha256").update(token).digest("base64url");

export const toInvitationKey = (hash: string): Key => ({ pk: `INVITE#${hash}`, sk: "INVITE" });
export const toInvitesPartition = (account: string | null): string =>
  `INVITES#${account ?? "SERVICE"}`;
export const toInviteMirrorKey = ({ account, id }: Pick<Invitation, "account" | "id">): Key => ({
  pk: toInvitesPartition(account),
  sk: id,
});
export const readInvitation = (item: Item): Invitation => v.parse(Invitation, item);
export const buildInvitationWrites = (invitation: Invitation): Write[] => [
  { create: { ...toInvitationKey(invitation.hash), ...invitation } },
  { create: { ...toInviteMirrorKey(invitation), ...invitation } },
];
/** Refused when the invitation was accepted, withdrawn or replaced, or has expired. */
export const buildInvitationRemoval = (invitation: Invitation): Write[] => [
  { remove: toInvitationKey(invitation.hash), where: { id: invitation.id } },
  { remove: toInviteMirrorKey(invitation), where: { hash: invitation.hash } },
];

export const hashSession = (token: string, pepper: string): string => hashKey(token, pepper);
export const toSessionKey = (hash: string): Key => ({ pk: `SESSION#${hash}`, sk: "SESSION" });
export const readSession = (item: Item): Session => v.parse(Session, item);

/** JSON, because an issuer may contain any character. */
export const hashIdentity = (issuer: string, subject: string): string =>
  hashToken(JSON.stringify([issuer, subject]));
export const toIdentityKey = (hash: string): Key => ({ pk: `IDENTITY#${hash}`, sk: "IDENTITY" });
export const toIdentityMirrorKey = ({ person, hash }: Pick<Identity, "person" | "hash">): Key => ({
  pk: toPersonPartition(person),
  sk: `${IDENTITY}${hash}`,
});
export const IDENTITY = "IDENTITY#";
export const readIdentity = (item: Item): Identity => v.parse(Identity, item);
export const buildIdentityWrites = (identity: Identity): Write[] => [
  { create: { ...toIdentityKey(identity.hash), ...identity } },
  { create: { ...toIdentityMirrorKey(identity), ...identity } },
];
export const buildIdentityRemoval = (identity: Pick<Identity, "hash" | "person">): Write[] => [
  { remove: toIdentityKey(identity.hash), where: { person: identity.person } },
  { remove: toIdentityMirrorKey(identity) },
];

export const toPasskeyKey = (id: string): Key => ({ pk: `PASSKEY#${id}`, sk: "PASSKEY" });
export const toPasskeyMirrorKey = ({ person, id }: Pick<Passkey, "person" | "id">): Key => ({
  pk: toPersonPartition(person),
  sk: `${PASSKEY}${id}`,
});
export const PASSKEY = "PASSKEY#";
export const readPasskey = (item: Item): Passkey => v.parse(Passkey, item);
export const buildPasskeyWrites = (passkey: Passkey): Write[] => [
  { create: { ...toPasskeyKey(passkey.id), ...passkey } },
  { create: { ...toPasskeyMirrorKey(passkey), ...passkey } },
];
export const buildPasskeyRemoval = (passkey: Pick<Passkey, "id" | "person">): Write[] => [
  { remove: toPasskeyKey(passkey.id), where: { person: passkey.person } },
  { remove: toPasskeyMirrorKey(passkey) },
];

/** Refused when the challenge was used before. */
export const buildChallengeUse = (challenge: string, expiresAt: number): Write => ({
  create: {
    pk: `CHALLENGE#${hashToken(challenge)}`,
    sk: "CHALLENGE",
    expires_at: expiresAt,
  },
});

export const FIRST_PERSON: Key = { pk: "PEOPLE", sk: "PEOPLE" };
