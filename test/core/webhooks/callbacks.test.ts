import type { KeyMode } from "@mailproof/core/money/payer";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { Item } from "@mailproof/core/ports/table";
import { deliverEvent } from "@mailproof/core/webhooks/deliver-event";
import { emitEvent, readDelivery } from "@mailproof/core/webhooks/items";
import { describe, expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../../app/drain-queues.ts";
import { given } from "../../app/given.ts";
import { send } from "../../app/send.ts";
import { eventually } from "../../runner/eventually.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  whenBatched,
  whenFiled,
} from "../../things/jobs.ts";
import { HOOK, HOUR_MS, verifyCall, whenPassed, whenSubscribed } from "../../things/webhooks.ts";

const isWaitingForSlot = (item: Item): boolean =>
  item.sk === "DELIVERY" && readDelivery(item).waits > 0;

describe("a callback", () => {
  const URL = "https://back.example/done";

  test("of a batch is signed by the secret that came with it", async () => {
    const ctx = await givenChunked();
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const callback = { webhook_url: URL, webhook_secret: secret };

    await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(3), ...callback });
    await whenWorked(ctx);

    const [call] = ctx.servers.received;
    expect(call?.url).toBe(URL);
    expect(call && verifyCall(secret, call)).toMatchObject({ type: "job.completed" });
  });

  test.each(["x", "whsec_no base64, this", "whsec_", " ", "🔑".repeat(128), "\u0000"])(
    "of a batch is signed by the own bytes of a secret such as %j",
    async (secret) => {
      const ctx = await givenChunked();
      const callback = { webhook_url: URL, webhook_secret: secret };

      await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(1), ...callback });
      await whenWorked(ctx);

      const [call] = ctx.servers.received;
      const asBase64 = Buffer.from(secret).toString("base64");
      expect(call && verifyCall(asBase64, call)).toMatchObject({ type: "job.completed" });
    },
  );

  test("of a batch without a secret, and of a file, is not signed", async () => {
    const ctx = await givenChunked();
    await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(3), webhook_url: URL });
    const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(3)));
    await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, { webhook_url: URL }));

    await whenWorked(ctx);

    expect(ctx.servers.received).toHaveLength(2);
    for (const { headers } of ctx.servers.received) {
      expect(headers).not.toHaveProperty("webhook-signature");
      expect(headers["webhook-id"]).toMatch(/^evt_/);
    }
  });

  test("is sent beside the subscribers' deliveries, and is retried like them", async () => {
    const ctx = await givenChunked();
    await whenSubscribed(ctx);
    ctx.servers.answer(({ url }) => (url === URL ? 500 : 200));
    await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(1), webhook_url: URL });
    await whenWorked(ctx);

    ctx.servers.answer(200);
    await whenPassed(ctx, HOUR_MS);

    const urls = ctx.servers.received.map(({ url }) => url);
    expect(urls.toSorted()).toEqual([URL, URL, HOOK]);
  });

  test.each<[string, readonly KeyMode[]]>([
    ["a live key", ["live"]],
    ["a live and a test key", ["live", "test"]],
  ])(
    "whose servers all hang leaves half of the concurrent deliveries to other accounts, with %s",
    async (_keys, modes) => {
      const ctx = await given();
      const { world, table, queue, servers, account } = ctx;
      const { promise: hung, resolve: letGo } = Promise.withResolvers<number>();
      servers.answer(() => hung);
      const data = { account_id: account, available: 5, threshold: 10 };
      for (let n = 0; n < 100; n++) {
        const callback = { url: `https://h${n}.example/`, secret: null };
        const owner = getOwnerId({ account, mode: modes[n % modes.length] ?? "live" });
        await table.transact([emitEvent(world, owner, "credits.low", data, callback)]);
      }
      ctx.later(30_000);
      await whenReconciled(ctx);

      const inHand: Promise<void>[] = [];
      for (;;) {
        const messages = await queue.receive(deliverEvent.queue, { max: 10, waitMs: 0 });
        if (messages.length === 0) break;
        inHand.push(...messages.map(({ body }) => deliverEvent.handle(world, body)));
      }
      await eventually(() => expect(table.items().filter(isWaitingForSlot)).toHaveLength(68));

      expect(servers.received).toHaveLength(32);
      letGo(200);
      await Promise.all(inHand);
    },
  );

  test.each([
    ["a batch", "POST /v1/verify/batch", { emails: createEmails(1) }],
    [
      "a file",
      "POST /v1/verify/file",
      createProcessRequest("uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv"),
    ],
  ])(
    "to a private address is refused with %s, before anything is charged",
    async (_, route, body) => {
      const ctx = await givenChunked();
      ctx.servers.refuse(() => "private_address");

      const { statusCode, error } = await send(ctx.world, route, {
        key: ctx.liveKey,
        body: { ...body, webhook_url: "https://10.0.0.1/" },
      });

      expect(statusCode).toBe(400);
      expect(error.message).toBe(
        "webhook_url: must not resolve to a private address, unless OUTBOUND_ALLOW_PRIVATE permits it. Nothing was charged.",
      );
    },
  );
});
