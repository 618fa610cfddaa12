import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { encryptSecret } from "../lib/secret-box.ts";
import { type Fields, findItem, type Table } from "../ports/table.ts";
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
/** `secret` is in plain text. The response must show it, because no later request can. */
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
  const result = await commit(world, {
    proof: { create: toWebhookItem(webhook) },
    also: [incrementWebhookCount(request.owner)],
  });
  if (result.outcome === "committed") return { webhook, secret };
  if (result.outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether the webhook was created. Check the list of webhooks.",
    );
  const what = `The account already has ${WEBHOOKS_MAX} webhooks, the maximum. Delete one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

export const findWebhook = (
  table: Table,
  owner: string,
  id: string,
): Promise<Webhook | undefined> => findItem(table, toWebhookKey({ owner, id }), readWebhook);

/** Undefined fields stay unchanged. */
type WebhookChanges = {
  readonly [F in "url" | "events" | "status"]?: Webhook[F] | undefined;
};

/** Undefined when the webhook does not exist. Enabling a webhook resets its failures. */
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

/** After this function has returned, only the new secret signs requests. */
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
  throw createUnavailableFailure(
    "It is not known whether the webhook was changed. Send the request again.",
  );
};

/** False when a concurrent request removed the webhook. Its pending deliveries fail at their next attempt. */
export const deleteWebhook = async (world: World, webhook: Webhook): Promise<boolean> => {
  const { outcome } = await world.table.transact(buildWebhookRemoval(webhook));
  if (outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether the webhook was deleted. Send the request again.",
    );
  return outcome === "committed";
};
