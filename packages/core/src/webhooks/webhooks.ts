import { Failure } from "../lib/failure.ts";
import { encryptSecret } from "../lib/secret-box.ts";
import type { Fields, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import {
  buildWebhookRemoval,
  incrementWebhookCount,
  readWebhook,
  toWebhookItem,
  toWebhookKey,
  WEBHOOKS_MAX,
  type Webhook,
} from "./items.ts";
import { generateSecret } from "./signature.ts";

type WebhookRequest = Pick<Webhook, "owner" | "url" | "events">;
/** `secret` is in clear here and nowhere else: whoever gets this shows it or loses it. */
export type WebhookWithSecret = { readonly webhook: Webhook; readonly secret: string };

export const createWebhook = async (
  world: World,
  request: WebhookRequest,
): Promise<WebhookWithSecret> => {
  const secret = generateSecret(world);
  const webhook: Webhook = {
    ...request,
    id: world.newId("whk"),
    status: "active",
    secret: encryptSecret(world, request.owner, secret),
    createdAt: world.now().toISOString(),
  };
  const result = await commit(world, [
    { create: toWebhookItem(webhook) },
    incrementWebhookCount(request.owner),
  ]);
  if (result.outcome === "committed") return { webhook, secret };
  if (result.outcome === "ambiguous")
    throw createUnknownOutcomeFailure(
      "It is not known whether the webhook was created; look at the list.",
    );
  const what = `The account has ${WEBHOOKS_MAX} webhooks; delete one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

export const findWebhook = async (
  table: Table,
  owner: string,
  id: string,
): Promise<Webhook | undefined> => {
  const item = await table.get(toWebhookKey({ owner, id }));
  return item && readWebhook(item);
};

/** What is undefined stays as it is. */
type WebhookChanges = {
  readonly [F in "url" | "events" | "status"]?: Webhook[F] | undefined;
};

/** Undefined: there is none. Whoever enables it begins with a clean slate. */
export const updateWebhook = (
  world: World,
  webhook: Webhook,
  { url, events, status }: WebhookChanges,
): Promise<Webhook | undefined> =>
  writeFields(world, webhook, {
    ...(url !== undefined && { url, failingSince: undefined }),
    ...(events && { events }),
    ...(status === "active" && { status, disabledBecause: undefined, failingSince: undefined }),
    ...(status === "disabled" && { status, disabledBecause: "asked" }),
  });

/** From the moment this returns everything is signed with the new secret, and nothing with the old one. */
export const rotateSecret = async (
  world: World,
  webhook: Webhook,
): Promise<WebhookWithSecret | undefined> => {
  const secret = generateSecret(world);
  const changed = await writeFields(world, webhook, {
    secret: encryptSecret(world, webhook.owner, secret),
  });
  return changed && { webhook: changed, secret };
};

const writeFields = async (
  { table }: World,
  webhook: Webhook,
  fields: Fields,
): Promise<Webhook | undefined> => {
  const written = await table.write({ update: toWebhookKey(webhook), set: fields });
  if (written.outcome === "refused") return undefined;
  if (written.outcome === "committed" && written.item) return readWebhook(written.item);
  throw createUnknownOutcomeFailure(
    "It is not known whether the webhook was changed; send this again.",
  );
};

/** False: somebody else removed it. What still waits to be sent to it is dropped when its turn comes. */
export const deleteWebhook = async (world: World, webhook: Webhook): Promise<boolean> => {
  const { outcome } = await world.table.transact(buildWebhookRemoval(webhook));
  if (outcome === "ambiguous")
    throw createUnknownOutcomeFailure(
      "It is not known whether the webhook is deleted; send this again.",
    );
  return outcome === "committed";
};

const createUnknownOutcomeFailure = (what: string) =>
  new Failure("UNAVAILABLE", "nothing_charged", what);
