import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { MODULE, MODULE_PATH, SCRIPT, SCRIPT_INTEGRITY, SCRIPT_PATH } from "@mailproof/guard/built";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";

// A shop with a sign-up form, and a service that answers as a test wants.

export const serve = async (server: Server): Promise<string> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** What the service does with a request for a class. "stalled": nothing. */
export type Mood = "stalled" | "closed" | { readonly status: number; readonly body: string };

export const answering = (data: object): Mood => ({
  status: 200,
  body: JSON.stringify({ success: true, data: { did_you_mean: null, job_id: "job_7", ...data } }),
});

export const GO = answering({ class: "go", receipt: "a.b.c" });

const FILES = new Map([
  [SCRIPT_PATH, SCRIPT],
  [MODULE_PATH, MODULE],
]);

/** `asked`: the bodies that it was sent. `page` is on the same host, at any other path. */
export const serveGuard = async (moods: (email: string) => Mood, page = "") => {
  const asked: { readonly email: string; readonly control?: object }[] = [];
  const url = await serve(
    createServer((request, response) => {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "content-type, x-api-key");
      if (request.method === "OPTIONS") return void response.end();
      const file = request.url && FILES.get(request.url);
      if (file) {
        response.setHeader("content-type", "text/javascript");
        return void response.end(file);
      }
      if (request.method !== "POST")
        return void response.writeHead(200, { "content-type": "text/html" }).end(page);
      let text = "";
      request.on("data", (piece) => (text += piece));
      request.on("end", () => {
        const body = JSON.parse(text);
        asked.push(body);
        const mood = moods(body.email);
        if (mood === "closed") request.socket.destroy();
        if (typeof mood === "string") return;
        response.writeHead(mood.status, { "content-type": "application/json" }).end(mood.body);
      });
    }),
  );
  return { url, asked };
};

export const FORM = `<form action="/signup" method="post">
<label for="email">Email</label> <input id="email" type="email" name="email" autocomplete="email" required>
<button name="go" value="1">Sign up</button>
</form>`;

/** No content but its own form, and what it needs of the guard. No text becomes code. */
const strictPolicy = (api: string): string =>
  `default-src 'none'; script-src '${SCRIPT_INTEGRITY}'; connect-src ${api}; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'`;

type Shop = {
  readonly api: string;
  readonly form?: string;
  readonly attributes?: string;
  /** The key in the page, which is known once its origin is. */
  readonly getKey?: () => string;
};

/** `sent`: the fields of the forms that arrived. */
export const serveShop = async (shop: Shop) => {
  const { api, form = FORM, attributes = "", getKey = () => "mp_pub_0" } = shop;
  const sent: Record<string, string>[] = [];
  const url = await serve(
    createServer((request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      if (request.method === "POST") {
        let text = "";
        request.on("data", (piece) => (text += piece));
        request.on("end", () => {
          sent.push(Object.fromEntries(new URLSearchParams(text)));
          response.end("<!doctype html><title>Thanks</title><p>Thanks.");
        });
        return;
      }
      response.setHeader("content-security-policy", strictPolicy(api));
      response.end(`<!doctype html><html lang="en"><title>Shop</title><main><h1>Sign up</h1>${form}</main>
<script src="${api}${SCRIPT_PATH}" integrity="${SCRIPT_INTEGRITY}" crossorigin="anonymous" data-key="${getKey()}" ${attributes} defer></script></html>`);
    }),
  );
  return { url, sent };
};

export const hint = (page: Page) => page.locator(".mailproof-hint");

export const submit = (page: Page) => page.getByRole("button", { name: "Sign up" }).click();

export const thanked = (page: Page) => page.getByText("Thanks.").waitFor();
