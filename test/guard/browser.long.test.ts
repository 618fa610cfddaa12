import { readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { createApiServer } from "@mailproof/local/server/server";
import { describe, expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { describeInChromium } from "./chromium.ts";
import {
  answering,
  FORM,
  GO,
  hint,
  type Mood,
  serve,
  serveGuard,
  serveShop,
  submit,
  thanked,
} from "./page.ts";

describeInChromium(
  "the guard in a page whose policy allows nothing else",
  ({ whenOpened, givenShop }) => {
    test("the guard sends a good address with its receipt, its job and the pressed button", async () => {
      const { page, sent, asked } = await givenShop(GO);

      await page.getByLabel("Email").fill(" ann@example.com");
      await submit(page);
      await thanked(page);

      const fields = { mailproof_job: "job_7", mailproof_receipt: "a.b.c", go: "1" };
      expect(sent).toEqual([{ email: "ann@example.com", ...fields }]);
      expect(asked).toEqual([{ email: "ann@example.com" }]);
      expect(await page.context().cookies()).toEqual([]);
      expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
    });

    test.each<[string, Mood]>([
      ["answers 503", { status: 503, body: "{}" }],
      ["answers with a page of a proxy", { status: 200, body: "<html>" }],
      ["answers with another shape", { status: 200, body: '{"data":{"class":"maybe"}}' }],
      ["closes the connection", "closed"],
    ])("the guard sends the form when the service %s", async (_case, mood) => {
      const { page, sent } = await givenShop(mood);

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);
      await thanked(page);

      expect(sent).toMatchObject([{ email: "ann@example.com" }]);
    });

    test("the guard sends the form when nothing answers at the service's address", async () => {
      const { url, sent } = await serveShop({ api: "http://127.0.0.1:1" });
      const page = await whenOpened(url);

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);
      await thanked(page);

      expect(sent).toEqual([{ email: "ann@example.com", go: "1" }]);
    });

    test("a stalled service delays a form for at most two seconds", async () => {
      const guard = await serveGuard(() => "stalled");
      const { url, sent } = await serveShop({ api: guard.url });
      const page = await whenOpened("about:blank", true);
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1_000);
      await page.goto(url);

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);
      await submit(page);
      await expect.poll(() => guard.asked.length).toBe(1);
      await page.clock.runFor(1_999);
      expect(sent).toEqual([]);
      await page.clock.runFor(1);
      await thanked(page);

      expect(sent).toEqual([{ email: "ann@example.com", go: "1" }]);
    });

    test("a visitor corrects a typo by keyboard alone, and the page's own scripts receive the event", async () => {
      const { page, sent, asked } = await givenShop((email) =>
        email === "ann@gmial.com" ? answering({ class: "ask", did_you_mean: "ann@gmail.com" }) : GO,
      );
      await page.evaluate(`addEventListener("input", () => { window.heard = true; })`);

      await page.getByLabel("Email").fill("ann@gmial.com");
      await page.keyboard.press("Tab");
      await page.getByRole("status").getByText("Did you mean").waitFor();
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");

      expect(await page.getByLabel("Email").inputValue()).toBe("ann@gmail.com");
      expect(await page.evaluate("document.activeElement.id")).toBe("email");
      expect(await page.evaluate("window.heard")).toBe(true);
      expect(await hint(page).count()).toBe(0);
      await page.keyboard.press("Enter");
      await thanked(page);
      expect(sent).toMatchObject([{ email: "ann@gmail.com", mailproof_job: "job_7" }]);
      expect(asked.map(({ email }) => email)).toEqual(["ann@gmial.com", "ann@gmail.com"]);
    });

    test("the guard sends an address of the class ask when the visitor confirms it", async () => {
      const { page, sent } = await givenShop(answering({ class: "ask", reason: "role_account" }));

      await page.getByLabel("Email").fill("info@example.com");
      await submit(page);
      await page.getByRole("alert").getByText("Please look at this address again.").waitFor();
      expect(await page.evaluate("document.activeElement.id")).toBe("email");
      expect(sent).toEqual([]);
      await submit(page);
      await thanked(page);

      expect(sent).toMatchObject([{ email: "info@example.com", mailproof_job: "job_7" }]);
    });

    test("the guard does not send an address of the class no until the visitor changes it", async () => {
      const { page, sent } = await givenShop((email) =>
        email.startsWith("ann") ? answering({ class: "no", reason: "listed_disposable" }) : GO,
      );
      const field = page.getByLabel("Email");

      await field.fill("ann@mailinator.com");
      await submit(page);
      await page.getByRole("alert").getByText("Please enter another address").waitFor();
      // The second refusal is a new alert, so that it is read out again.
      await page.evaluate(`document.querySelector("[role=alert]").title = "the first"`);
      await submit(page);
      await page.locator('[role=alert]:not([title="the first"])').waitFor();
      expect(sent).toEqual([]);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      const described = await field.getAttribute("aria-describedby");
      expect(await page.locator(`[id="${described}"]`).textContent()).toContain("another address");
      await field.fill("bob@example.com");
      expect(await field.getAttribute("aria-invalid")).toBeNull();
      await submit(page);
      await thanked(page);

      expect(sent).toMatchObject([{ email: "bob@example.com" }]);
    });

    test("axe finds no fault while the guard shows a hint", async () => {
      const { page } = await givenShop(answering({ class: "no", did_you_mean: "ann@gmail.com" }));

      await page.getByLabel("Email").fill("ann@gmial.com");
      await submit(page);
      await page.getByRole("alert").getByText("Did you mean").waitFor();
      const source = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
      const violations = await page.evaluate(
        `${source}; axe.run().then(({ violations }) => violations.map(({ id }) => id))`,
      );

      expect(violations).toEqual([]);
    });

    test("the guard does not ask about a field that the browser refuses, an empty field and a sign-in", async () => {
      const { page, sent, asked } = await givenShop(GO, {
        form: `${FORM.replace("required", "")}<form action="/in" method="post"><input type="email" aria-label="Name" name="email"><input type="password" autocomplete="current-password" aria-label="Password"><button>Sign in</button></form>`,
      });

      await page.getByLabel("Email").fill("ann@");
      await submit(page);
      await page.getByLabel("Email").fill("");
      await submit(page);
      await thanked(page);
      await page.goBack();
      await page.getByLabel("Name").fill("ann@example.com");
      await page.getByRole("button", { name: "Sign in" }).click();
      await thanked(page);

      expect(asked).toEqual([]);
      expect(sent).toHaveLength(2);
    });

    test("the guard sends the browser's proof of control with the address", async () => {
      const { page, asked } = await givenShop(GO, {
        form: FORM.replace(
          "<button",
          '<input type="hidden" name="evt" autocomplete="email-verification-token" nonce="n-1" value="x.y.z~k"><button',
        ),
      });

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);
      await thanked(page);

      const origin = new URL(page.url()).origin;
      expect(asked).toEqual([
        { email: "ann@example.com", control: { token: "x.y.z~k", nonce: "n-1", origin } },
      ]);
    });

    test("the guard does not delay a button that checks nothing, and allows fields named like methods", async () => {
      const fields = `<input type="hidden" name="submit"><input type="hidden" name="requestSubmit">
<button name="save" value="1" formnovalidate>Save a draft</button>`;
      const form = FORM.replace("</form>", `${fields}</form>`);
      const refused = await givenShop(answering({ class: "no" }), { form });
      await refused.page.getByLabel("Email").fill("ann@mailinator.com");
      await refused.page.getByRole("button", { name: "Save a draft" }).click();
      await thanked(refused.page);
      expect(refused.sent).toMatchObject([{ save: "1" }]);

      const taken = await givenShop(GO, { form });
      await taken.page.getByLabel("Email").fill("ann@example.com");
      await submit(taken.page);
      await thanked(taken.page);
      expect(taken.sent).toMatchObject([{ go: "1", mailproof_receipt: "a.b.c" }]);
    });

    test("the page's own script sends a form that it handles itself, once", async () => {
      const { page, sent } = await givenShop(GO, {}, { isAlone: true });
      await page.clock.install();
      await page.evaluate(
        'addEventListener("submit", (event) => { event.preventDefault(); document.title += "!"; }, true)',
      );

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);
      await page.clock.runFor(3_000);

      expect([await page.title(), sent]).toEqual(["Shop!", []]);
    });

    test("the guard shows its texts in the language of the page", async () => {
      const { page } = await givenShop(answering({ class: "no", did_you_mean: "ann@gmail.com" }), {
        attributes: 'data-suggestion="Meinten Sie {email}?"',
      });

      await page.getByLabel("Email").fill("ann@gmial.com");
      await submit(page);
      await hint(page).waitFor();

      expect(await hint(page).textContent()).toBe("Meinten Sie ann@gmail.com?");
    });

    describe("the guard with the real service", () => {
      test("the printed snippet works on a page of the key's origin, and on no other", async () => {
        const { world, liveKey } = await given({ balance: 10 });
        const api = await serve(createApiServer(world, () => undefined, endpoints));
        let key = "";
        const own = await serveShop({ api, getKey: () => key });
        const other = await serveShop({ api, getKey: () => key });
        const created = await send(world, "POST /v1/api-keys", {
          key: liveKey,
          body: { name: "Form", mode: "live", public: { origins: [own.url] } },
        });
        key = created.data.key;
        for (const { url } of [own, other]) {
          const page = await whenOpened(url);
          await page.getByLabel("Email").fill("ann@example.com");
          await submit(page);
          await thanked(page);
        }

        expect(own.sent).toMatchObject([{ email: "ann@example.com", mailproof_job: "job_1" }]);
        expect(other.sent).toEqual([{ email: "ann@example.com", go: "1" }]);
      });
    });
  },
);
