import { createWebhook, updateWebhook } from "@mailproof/core/webhooks/webhooks";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { expect, test } from "vitest";
import { createFolder, whenCommanded } from "../servers/running.ts";

test("an operator finds a disabled webhook of live or of test keys, and enables it", async () => {
  const folder = createFolder();
  const admin = (...args: string[]) => whenCommanded(folder, "admin", ...args);
  const opened = await admin("accounts", "create", "--name", "Joe");
  const { account_id: account = "" } = JSON.parse(opened.out) as Record<string, string>;
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  const request = { url: "https://example.com/in", events: ["job.completed" as const] };
  const { webhook, secret } = await createWebhook(world, { ...request, owner: account });
  await createWebhook(world, { ...request, owner: `${account}~test` });
  await updateWebhook(world, webhook, { status: "disabled" });
  close();
  const list = async () => {
    const { out } = await admin("webhooks", "list", "--account", account);
    expect(out).not.toContain(secret);
    return JSON.parse(out) as unknown;
  };

  expect(await list()).toMatchObject([{ status: "disabled" }, { status: "active" }]);
  const one = ["--account", account, "--webhook", webhook.id];
  expect((await admin("webhooks", "enable", ...one)).code).toBe(0);
  expect(await list()).toMatchObject([{ webhook_id: webhook.id, status: "active" }, {}]);

  const none = await admin("webhooks", "enable", "--account", account, "--webhook", "whk_none");
  expect(none.code).toBe(2);
  expect(none.err).toContain("The account has no webhook whk_none.");
});
