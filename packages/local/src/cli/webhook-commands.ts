import { getExistingAccount } from "@mailproof/core/accounts/accounts";
import { Failure } from "@mailproof/core/lib/failure";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { World } from "@mailproof/core/ports/world";
import { listWebhooks, type Webhook } from "@mailproof/core/webhooks/items";
import { updateWebhook } from "@mailproof/core/webhooks/webhooks";
import * as v from "valibot";
import { definePortable, Name } from "./define-admin.ts";

const listAllWebhooks = async ({ table }: World, account: string): Promise<readonly Webhook[]> => {
  await getExistingAccount(table, account);
  const owners = (["live", "test"] as const).map((mode) => getOwnerId({ account, mode }));
  return (await Promise.all(owners.map((owner) => listWebhooks(table, owner)))).flat();
};

const formatWebhook = ({ id, url, events, status, createdAt }: Webhook) => ({
  webhook_id: id,
  url,
  events,
  status,
  created_at: createdAt,
});

export const webhookDefinitions = {
  "admin webhooks list": definePortable({
    usage: "--account A",
    options: v.strictObject({ account: Name }),
    async run(world, { account }) {
      return { output: (await listAllWebhooks(world, account)).map(formatWebhook) };
    },
  }),

  "admin webhooks enable": definePortable({
    usage: "--account A --webhook W",
    options: v.strictObject({ account: Name, webhook: Name }),
    async run(world, { account, webhook: id }) {
      const webhook = (await listAllWebhooks(world, account)).find((one) => one.id === id);
      const changed = webhook && (await updateWebhook(world, webhook, { status: "active" }));
      if (!changed)
        throw new Failure("NOT_FOUND", "nothing_charged", `The account has no webhook ${id}.`);
      return { output: formatWebhook(changed) };
    },
  }),
};
