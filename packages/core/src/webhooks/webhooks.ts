import { commit } from "../commit.ts";
import { Failure } from "../failure.ts";
import { seal } from "../sealed.ts";
import type { Fields, Table } from "../table.ts";
import type { World } from "../world.ts";
import {
  oneMoreWebhook,
  readWebhook,
  WEBHOOKS_MAX,
  type Webhook,
  webhookItem,
  webhookKey,
  writesOfRemovedWebhook,
} from "./items.ts";
import { newSecret } from "./signature.ts";

type Wanted = Pick<Webhook, "owner" | "url" | "events">;
/** `secret` is in clear here and nowhere else: whoever gets this shows it or loses it. */
export type Shown = { readonly webhook: Webhook; readonly secret: string };

export const addWebhook = async (world: World, wanted: Wanted): Promise<Shown> => {
  const secret = newSecret(world);
  const webhook: Webhook = {
    ...wanted,
    id: world.newId("whk"),
    status: "active",
    secret: seal(world, wanted.owner, secret),
    createdAt: world.now().toISOString(),
  };
  const result = await commit(world, [
    { create: webhookItem(webhook) },
    oneMoreWebhook(wanted.owner),
  ]);
  if (result.outcome === "committed") return { webhook, secret };
  if (result.outcome === "ambiguous")
    throw unknownOutcome("It is not known whether the webhook was created; look at the list.");
  const what = `The account has ${WEBHOOKS_MAX} webhooks; delete one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

export const findWebhook = async (
  table: Table,
  owner: string,
  id: string,
): Promise<Webhook | undefined> => {
  const item = await table.get(webhookKey({ owner, id }));
  return item && readWebhook(item);
};

/** What is undefined stays as it is. */
type Changes = {
  readonly [F in "url" | "events" | "status"]?: Webhook[F] | undefined;
};

/** Undefined: there is none. Whoever enables it begins with a clean slate. */
export const changeWebhook = (
  world: World,
  webhook: Webhook,
  { url, events, status }: Changes,
): Promise<Webhook | undefined> =>
  set(world, webhook, {
    ...(url !== undefined && { url, failingSince: undefined }),
    ...(events && { events }),
    ...(status === "active" && { status, disabledBecause: undefined, failingSince: undefined }),
    ...(status === "disabled" && { status, disabledBecause: "asked" }),
  });

/** From the moment this returns everything is signed with the new secret, and nothing with the old one. */
export const rotateSecret = async (world: World, webhook: Webhook): Promise<Shown | undefined> => {
  const secret = newSecret(world);
  const changed = await set(world, webhook, { secret: seal(world, webhook.owner, secret) });
  return changed && { webhook: changed, secret };
};

const set = async (
  { table }: World,
  webhook: Webhook,
  fields: Fields,
): Promise<Webhook | undefined> => {
  const written = await table.write({ update: webhookKey(webhook), set: fields });
  if (written.outcome === "refused") return undefined;
  if (written.outcome === "committed" && written.item) return readWebhook(written.item);
  throw unknownOutcome("It is not known whether the webhook was changed; send this again.");
};

/** False: somebody else removed it. What still waits to be sent to it is dropped when its turn comes. */
export const removeWebhook = async (world: World, webhook: Webhook): Promise<boolean> => {
  const { outcome } = await world.table.transact(writesOfRemovedWebhook(webhook));
  if (outcome === "ambiguous")
    throw unknownOutcome("It is not known whether the webhook is deleted; send this again.");
  return outcome === "committed";
};

const unknownOutcome = (what: string) => new Failure("UNAVAILABLE", "nothing_charged", what);
