import { queueLetters } from "@mailproof/core/mails/week";
import { buildMemberWrites, createPerson, type Member } from "@mailproof/core/people/items";
import type { Role } from "@mailproof/core/people/roles";
import { emitEvent } from "@mailproof/core/webhooks/items";
import type { WebhookEventType } from "@mailproof/core/webhooks/payloads";
import { whenMinutesPass, whenWorked } from "../app/drain-queues.ts";
import { type Given, given } from "../app/given.ts";

export const FROM = "notices@mailproof.example";
export const PUBLIC_URL = "https://mailproof.example";

/** A service that sends mail, through a relay in memory. */
export const givenMails = async (
  options: Given = {},
): Promise<Awaited<ReturnType<typeof given>>> => {
  const ctx = await given({ balance: 1_000, ...options });
  const settings = { ...ctx.world.settings, mailFrom: FROM, publicUrl: PUBLIC_URL };
  return { ...ctx, world: { ...ctx.world, settings } };
};

export type MailContext = Awaited<ReturnType<typeof givenMails>>;

/** A member with an address such as ada@people.example. */
export const givenMailed = async (
  { world, table, account }: MailContext,
  name: string,
  role: Role = "owner",
  limits: Pick<Partial<Member>, "account" | "area"> = {},
): Promise<string> => {
  const id = world.newId("person");
  const at = world.now().toISOString();
  const email = `${name}@people.example`;
  await table.transact([
    createPerson({ id, name, email, createdAt: at }),
    ...buildMemberWrites({ account, person: id, role, since: at, ...limits }),
  ]);
  return id;
};

/** The event happens, and everything that follows at once. */
export const whenEvent = async (
  ctx: MailContext,
  type: WebhookEventType,
  data: Parameters<typeof emitEvent>[3],
  owner = ctx.account,
): Promise<void> => {
  const { sends, create } = emitEvent(ctx.world, owner, type, data);
  await ctx.table.transact([{ create }]);
  await ctx.queue.sendMany(sends.queue, [sends.message]);
  await whenWorked(ctx);
};

export const LOW = { account_id: "acc_1", available: 5, threshold: 10 };

/** Lets hours pass. Each begins with a run of the schedule of letters. */
export const whenHoursPass = async (ctx: MailContext, hours: number): Promise<void> => {
  for (let hour = 0; hour < hours; hour++) {
    await queueLetters.run(ctx.world).catch(() => undefined);
    const isIdle = ctx.queue.pending() === 0 && !ctx.table.items().some(({ due_pk }) => due_pk);
    if (isIdle) ctx.later(60 * 60_000);
    else {
      await whenWorked(ctx);
      await whenMinutesPass(ctx, 60);
    }
  }
};
