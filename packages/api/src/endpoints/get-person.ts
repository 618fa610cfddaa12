import { findAccount } from "@mailproof/core/accounts/accounts";
import { paginateQuery } from "@mailproof/core/lib/paginate-query";
import { IDENTITY, readIdentity, toPersonPartition } from "@mailproof/core/people/items";
import { findPerson, listMemberships } from "@mailproof/core/people/members";
import { listPasskeys } from "@mailproof/core/people/passkeys";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import * as field from "../schema/fields.ts";
import { PasskeySummary, RoleField, toPasskeySummary } from "../schema/people.ts";

export const getPerson = endpoint({
  id: "getPerson",
  route: "GET /v1/person",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Get the signed-in person: accounts, roles, and ways to sign in.",
  access: "person",
  // Not a tool: agents have keys.
  tool: null,

  output: v.object({
    person_id: field.text("The person's id."),
    name: field.text("The person's name."),
    email: field.maybeText("The person's address. Left out when it is not known."),
    recently_signed_in: field.boolean(
      "True within five minutes of the sign-in: keys, invitations and secrets require it.",
    ),
    accounts: field.objects("The accounts that the person is a member of.", {
      account_id: field.text("The account's id. The header Mailproof-Account selects it."),
      name: field.text("The account's name."),
      ...RoleField,
    }),
    passkeys: field.objects("The person's passkeys.", PasskeySummary.entries),
    identities: field.objects("The person's identities at identity providers.", {
      issuer: field.text("The provider's issuer URL."),
      label: field.maybeText("The person's address at the provider. Left out when it gave none."),
    }),
  }),

  async handle(world, { person }) {
    const id = person?.id ?? "";
    const found = await findPerson(world.table, id);
    const items = paginateQuery(world.table, {
      pk: toPersonPartition(id),
      sk: { prefix: IDENTITY },
    });
    const [memberships, passkeys, identities] = await Promise.all([
      listMemberships(world.table, id),
      listPasskeys(world.table, id),
      Array.fromAsync(items, readIdentity),
    ]);
    const accounts = await Promise.all(
      memberships.map(async ({ account, role }) => {
        const named = await findAccount(world.table, account);
        return { account_id: account, name: named?.name ?? account, role };
      }),
    );
    return ok({
      person_id: id,
      name: found?.name ?? "",
      ...(found?.email && { email: found.email }),
      recently_signed_in: person?.isFresh ?? false,
      accounts,
      passkeys: passkeys.map(toPasskeySummary),
      identities: identities.map(({ issuer, label }) => ({ issuer, ...(label && { label }) })),
    });
  },
});
