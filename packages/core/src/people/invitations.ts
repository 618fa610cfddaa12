import { toAccountKey } from "../accounts/account-items.ts";
import { openAccount } from "../accounts/accounts.ts";
import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, HOUR_MS, toEpochSeconds } from "../lib/time.ts";
import { credits } from "../money/credits.ts";
import { findItem, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import {
  buildInvitationRemoval,
  buildInvitationWrites,
  buildMemberWrites,
  createPerson,
  FIRST_PERSON,
  hashToken,
  type Invitation,
  type Member,
  type Person,
  readInvitation,
  toInvitationKey,
  toInvitesPartition,
  toMembershipKey,
} from "./items.ts";
import { generateToken, mintSession } from "./sessions.ts";

// An invitation is a link that one person may use once, within 48 hours. Only the hash of its token is stored.

const INVITATION_MS = 48 * HOUR_MS;
export const INVITATIONS_MAX = 100;
const OWN_CREDITS = 1_000_000;

type InvitationRequest = Pick<
  Invitation,
  "kind" | "account" | "role" | "invitedBy" | "email" | "person" | "area" | "monthlyHalves"
>;

export type MintedInvitation = { readonly invitation: Invitation; readonly token: string };

/** Creates an invitation. It replaces an open one for the same address, or the same person, or the first visit. */
export const invite = async (
  world: World,
  request: InvitationRequest,
): Promise<MintedInvitation> => {
  const now = world.now();
  const token = generateToken(world);
  const invitation: Invitation = {
    ...request,
    id: world.newId("inv"),
    hash: hashToken(token),
    createdAt: now.toISOString(),
    expires_at: toEpochSeconds(addMs(now, INVITATION_MS)),
  };
  const open = await listInvitations(world, request.account);
  const replaced = open.filter((one) => isReplacedBy(one, request));
  if (open.length - replaced.length >= INVITATIONS_MAX)
    throw new Failure(
      "LIMIT_REACHED",
      "nothing_charged",
      `The account already has ${INVITATIONS_MAX} open invitations, the maximum. Withdraw one first.`,
    );
  const [proof, ...also] = buildInvitationWrites(invitation);
  const { outcome } = await commit(world, {
    proof: proof as { create: ReturnType<typeof toInvitationKey> },
    also: [...also, ...replaced.flatMap(buildInvitationRemoval)],
  });
  if (outcome === "committed") return { invitation, token };
  throw createUnavailableFailure("It is not known whether the invitation was created.");
};

const isReplacedBy = (open: Invitation, { kind, email, person }: InvitationRequest): boolean =>
  open.kind === kind &&
  (kind === "first" ||
    (person !== undefined && open.person === person) ||
    (email !== undefined && open.email === email));

export const listInvitations = async (
  { table, now }: World,
  account: string | null,
): Promise<readonly Invitation[]> => {
  const items = await Array.fromAsync(paginateQuery(table, { pk: toInvitesPartition(account) }));
  const seconds = toEpochSeconds(now());
  return items.map(readInvitation).filter(({ expires_at }) => expires_at > seconds);
};

/** Undefined when the link was used, withdrawn or replaced, or has expired. */
export const findInvitation = ({ table }: World, token: string): Promise<Invitation | undefined> =>
  findItem(table, toInvitationKey(hashToken(token)), readInvitation);

export const withdrawInvitation = async (world: World, invitation: Invitation): Promise<void> => {
  const { outcome } = await world.table.transact(buildInvitationRemoval(invitation));
  // "refused": it was accepted or withdrawn meanwhile, and its link does not work either.
  if (outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether the invitation was withdrawn. Send the request again.",
    );
};

export type Acceptance = {
  /** The signed-in person who accepts; undefined makes a new person. */
  readonly person?: Person | undefined;
  readonly name: string;
  /** The address that the person's identity provider verified. */
  readonly verifiedEmail?: string | undefined;
  /** The account's new name, on the first visit. */
  readonly accountName?: string | undefined;
  /** More writes for the person: an identity. */
  readonly also?: (person: string) => readonly Write[];
};

export type Accepted = {
  readonly person: string;
  readonly account: string | null;
  readonly token: string;
};

/** Uses an invitation once: makes the person, the membership and a session together, or nothing. */
export const acceptInvitation = async (
  world: World,
  invitation: Invitation,
  { person: known, name, verifiedEmail, accountName, also = () => [] }: Acceptance,
): Promise<Accepted> => {
  const { kind, role, area, monthlyHalves } = invitation;
  const at = world.now().toISOString();
  const person = invitation.person ?? known?.id ?? world.newId("person");
  const account = await chooseAccount(world, invitation, accountName);
  const session = mintSession(world, person);
  const email = verifiedEmail ?? invitation.email;
  const isNew = kind !== "return" && known === undefined;
  const member: Member | null =
    kind === "return" || account === null
      ? null
      : {
          account,
          person,
          role,
          since: at,
          ...(area && { area }),
          ...(monthlyHalves !== undefined && { monthlyHalves }),
        };
  const { outcome } = await commit(world, {
    proof: session.write,
    also: [
      ...buildInvitationRemoval(invitation),
      ...(isNew
        ? [createPerson({ id: person, name, ...(email && { email }), createdAt: at })]
        : []),
      ...(member ? buildMemberWrites(member) : []),
      ...(kind === "first"
        ? [
            { create: { ...FIRST_PERSON, person } },
            ...(accountName && account
              ? [{ update: toAccountKey(account), set: { name: accountName } }]
              : []),
          ]
        : []),
      ...also(person),
    ],
  });
  if (outcome === "committed") return { person, account, token: session.token };
  if (outcome === "ambiguous")
    throw createUnavailableFailure("It is not known whether the invitation was accepted.");
  if (member && known && (await world.table.get(toMembershipKey(member.account, person))))
    throw new Failure("FORBIDDEN", "nothing_charged", "You are already a member of this account.");
  throw createUsedFailure();
};

export const createUsedFailure = (): Failure =>
  new Failure(
    "NOT_FOUND",
    "nothing_charged",
    "This link was used or replaced, or has expired. Ask for a new one.",
  );

const chooseAccount = async (
  world: World,
  { kind, account }: Invitation,
  name: string | undefined,
): Promise<string | null> => {
  if (kind !== "first" || account !== null) return account;
  if (await world.table.get(FIRST_PERSON)) throw createUsedFailure();
  // The operator's own account. If the acceptance fails afterwards, it stays without members.
  const opening = credits(OWN_CREDITS);
  return (await openAccount(world, { name: name ?? "My account", plan: "scale", opening })).account;
};
