import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createClient, type Webhook as WebhookData } from "@mailproof/client";
import { WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeEach, expect, test } from "vitest";
import { toFaultSentence } from "../../packages/dashboard/src/screens/webhooks/fault-sentence.ts";
import { serveZone } from "../servers/dns-server.ts";
import { NAME, OPEN, SELF_SIGNED } from "../servers/https-servers.ts";
import { beforeAnswer, checkScreen, describeInBrowser, type OpenedPage } from "./browser.ts";

type Call = { readonly headers: Record<string, string>; readonly body: string };

/** A receiver that answers what a test tells it to. */
const receiver = { status: 200, received: [] as Call[] };
const receive = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
  const headers = request.headers as Record<string, string>;
  receiver.received.push({ headers, body: await text(request) });
  answer.writeHead(receiver.status).end(`the receiver says ${receiver.status}`);
};
const server = createServer(SELF_SIGNED, (request, answer) => void receive(request, answer));
server.listen(0, "::");
await once(server, "listening");
const dns = await serveZone({ [NAME]: { A: [OPEN] } });
const folder = mkdtempSync(join(tmpdir(), "mailproof-"));
writeFileSync(join(folder, "ca.pem"), SELF_SIGNED.cert);
const url = `https://${NAME}:${(server.address() as AddressInfo).port}/in`;

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.close();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  receiver.status = 200;
  receiver.received.length = 0;
});

const createTestClient = ({ ready }: Pick<OpenedPage, "ready">) =>
  createClient({ baseUrl: ready.base_url, key: ready.test_key });

test("the dashboard describes every documented cause of a failed delivery by its own sentence", () => {
  const [, table = ""] = readFileSync("docs/webhooks.md", "utf8").split(/^\| `error` .*$/m);
  const [rows = ""] = table.split("\n\n");
  const codes = [...rows.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code),
  );

  expect(codes.length).toBeGreaterThan(10);
  // Of a response the status is shown.
  const unknown = codes.filter((code) => toFaultSentence(code).startsWith("The reason is"));
  expect(unknown).toEqual(["status"]);
  expect(new Set(codes.map(toFaultSentence)).size).toBe(codes.length);
});

describeInBrowser(
  "the screen of webhooks",
  ({ open }) => {
    /** A webhook of its own for a test, with its screen open. */
    const openWebhook = async () => {
      const opened = await open({ path: "webhooks" });
      const webhook = await createTestClient(opened).createWebhook({
        url,
        events: ["job.completed"],
      });
      await opened.page.goto(`${opened.ready.base_url}/app/webhooks/${webhook.id}`);
      await opened.page.getByRole("heading", { name: "Deliveries" }).waitFor();
      return { ...opened, webhook };
    };

    test("a new webhook shows its secret once, and deliveries are signed with that secret", async () => {
      const opened = await open({ path: "webhooks" });
      const { page, readApi } = opened;
      await page.getByLabel("Address").fill(url);
      await page.getByLabel("job.completed").check();
      await page.getByRole("button", { name: "Create webhook" }).dblclick();
      const dialog = page.getByRole("dialog", { name: "The signing secret" });
      await dialog.waitFor();
      const secret = (await dialog.locator(".secret code").textContent()) ?? "";
      expect(secret).toMatch(/^whsec_/);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });

      const { webhooks } = await readApi<{ webhooks: WebhookData[] }>("/v1/webhooks");
      expect(webhooks).toHaveLength(1);
      expect(await page.content()).not.toContain(secret);
      await checkScreen(opened, "webhooks");
      await page.getByRole("link", { name: url }).click();
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("The address responded to webhook.test with 200").waitFor();

      expect(await page.content()).not.toContain(secret);
      const [{ body, headers } = { body: "", headers: {} }] = receiver.received;
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: "webhook.test" });
    });

    test("any event can be tested, and its delivery shows payload and response", async () => {
      const opened = await openWebhook();
      const { page } = opened;
      await page.getByLabel("Event", { exact: true }).selectOption("credits.low");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("The address responded to credits.low with 200").waitFor();

      const entry = page.locator(".deliveries > li").filter({ hasText: "credits.low" });
      await entry.locator("summary").click();
      const [response, payload] = await entry.locator("pre").allTextContents();

      expect(response).toBe("the receiver says 200");
      expect(JSON.parse(payload ?? "")).toEqual(JSON.parse(receiver.received[0]?.body ?? ""));
      expect(await entry.textContent()).toContain("1 attempt");
      await checkScreen(opened, "webhook");
    });

    test("every event of the API can be tested by keyboard alone, and pressing twice sends it once", async () => {
      const { page, readApi } = await openWebhook();
      const events = page.getByLabel("Event", { exact: true });
      const names = (await events.locator("option").allTextContents()).slice(1);
      expect(names.toSorted()).toEqual((WEBHOOK_EVENT_TYPES as readonly string[]).toSorted());

      await events.focus();
      for (const [at, name] of names.entries()) {
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Tab");
        await beforeAnswer(page, async () => {
          await page.keyboard.press("Enter");
          await page.keyboard.press("Enter");
        });
        await page.getByText(`The address responded to ${name} with 200`).waitFor();
        await page.locator(".deliveries > li").nth(at).waitFor();
        await page.keyboard.press("Shift+Tab");
      }

      expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(names);
      const [hook] = (await readApi<{ webhooks: WebhookData[] }>("/v1/webhooks")).webhooks;
      expect(hook?.url).toBe(url);
    });

    test("the screen sends a failed delivery again and shows its success without a reload", async () => {
      const { page, requests } = await openWebhook();
      receiver.status = 500;
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("The address responded to webhook.test with 500").waitFor();
      const entry = page.locator(".deliveries > li").first();
      await entry.getByText("failed").waitFor();

      receiver.status = 200;
      await entry.locator("summary").click();
      await entry.getByRole("button", { name: "Send again" }).focus();
      await beforeAnswer(page, async () => {
        await page.keyboard.press("Enter");
        await page.keyboard.press("Enter");
      });
      await entry.getByText("delivered").waitFor();

      expect(await entry.textContent()).toContain("2 attempts");
      expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([
        receiver.received[0]?.headers["webhook-id"],
        receiver.received[0]?.headers["webhook-id"],
      ]);
      expect(requests.filter((one) => one.startsWith("GET /app/webhooks/"))).toHaveLength(1);
    });

    test("one click sends all failed deliveries again", async () => {
      const { page } = await openWebhook();
      receiver.status = 500;
      for (let sent = 1; sent <= 2; sent++) {
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page
          .locator(".deliveries .is-invalid")
          .nth(sent - 1)
          .waitFor();
      }

      receiver.status = 200;
      await page.getByRole("button", { name: /^Send all that failed since/ }).click();
      await page.getByText("2 deliveries were sent again.").waitFor();
      await page.locator(".deliveries .is-valid").nth(1).waitFor();

      expect(receiver.received).toHaveLength(4);
    });

    test("the screen replaces the secret after a confirmation and shows the new one once", async () => {
      const { page, webhook } = await openWebhook();
      await page.getByRole("button", { name: "Replace the secret" }).click();
      const question = page.getByRole("dialog", { name: "Replace the signing secret?" });
      await question.waitFor();
      await page.keyboard.press("Escape");
      await question.waitFor({ state: "detached" });
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Replace the secret");

      await page.keyboard.press("Enter");
      await question.getByRole("button", { name: "Replace it" }).click();
      const dialog = page.getByRole("dialog", { name: "The signing secret" });
      const secret = (await dialog.locator(".secret code").textContent()) ?? "";
      expect(secret).not.toBe(webhook.secret);
      await dialog.getByRole("button", { name: "I have stored it" }).click();
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("The address responded to webhook.test with 200").waitFor();

      const [{ body, headers } = { body: "", headers: {} }] = receiver.received;
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: "webhook.test" });
    });

    test("the screen disables, enables and deletes a webhook", async () => {
      const { page, webhook, readApi } = await openWebhook();
      await page.getByRole("button", { name: "Disable" }).click();
      await page.getByText("Disabled. Events are not sent.").waitFor();
      await page.getByRole("button", { name: "Enable" }).click();
      await page.getByText("Active").waitFor();
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("button", { name: "Delete it" }).click();
      await page.getByRole("heading", { name: "New webhook" }).waitFor();

      const { webhooks } = await readApi<{ webhooks: WebhookData[] }>("/v1/webhooks");
      expect(webhooks.map(({ id }) => id)).not.toContain(webhook.id);
      expect(new URL(page.url()).pathname).toBe("/app/webhooks");
    });

    test("the screen shows the API's message for a forbidden address", async () => {
      const { page } = await open({ path: "webhooks" });
      await page.getByLabel("Address").fill("http://example.com");
      await page.getByLabel("job.failed").check();
      await page.getByRole("button", { name: "Create webhook" }).click();

      expect(await page.getByRole("alert").textContent()).toContain("https");
    });

    // The last one: its deliveries to every webhook before are attempted again meanwhile.
    test("the overview shows since when a webhook fails and links to it", async () => {
      const { page, readApi, webhook } = await openWebhook();
      receiver.status = 500;
      const job = await createTestClient({ ready: (await open()).ready }).verifyBatch({
        emails: ["valid@example.com"],
      });
      expect(job.job_id).toMatch(/^job_/);
      await expect
        .poll(async () => {
          const { webhooks } = await readApi<{ webhooks: WebhookData[] }>("/v1/webhooks");
          return webhooks.find(({ id }) => id === webhook.id)?.failing_since;
        })
        .toBeDefined();

      await page.getByRole("link", { name: "Overview" }).click();
      const panel = page.getByRole("region", { name: "Needs a decision" });
      await panel
        .getByText(/^Deliveries have failed since /)
        .first()
        .waitFor();
      await panel.locator(`a[href$="${webhook.id}"]`).click();
      await page.getByRole("heading", { name: "Deliveries" }).waitFor();
      expect(page.url()).toContain(webhook.id);
    });
  },
  {
    DNS_SERVERS: dns.address,
    OUTBOUND_ALLOW_PRIVATE: `${OPEN}/32`,
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
  },
);
