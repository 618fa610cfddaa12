import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { describeInChromium } from "./chromium.ts";
import { answering, FORM, GO, hint, submit, thanked } from "./page.ts";

// What a page does to its form, and to the browser, while the form waits for an answer.

/** A page whose own script takes the form, and looks at how the page was at that moment. */
const takeForms = (page: Page) =>
  page.evaluate(`
    window.taken = [];
    document.addEventListener("submit", (event) => {
      event.preventDefault();
      const hints = document.querySelectorAll(".mailproof-hint").length;
      taken.push({ ...Object.fromEntries(new FormData(event.target, event.submitter)), hints });
      document.body.append("Taken.");
    });
  `);

/** Or thanked, by a form that went past the page's script. */
const whenTaken = async (page: Page) => {
  await page.getByText(/Taken|Thanks/).waitFor();
  return page.evaluate("window.taken");
};

/** Before the answer, whenever that comes: the guard sets a timer of no time after this one. */
const whileHeld = (page: Page, script: string) =>
  page.evaluate(
    `addEventListener("submit", () => setTimeout(() => { ${script} }), { capture: true, once: true })`,
  );

const BUTTON = 'const button = document.querySelector("button");';

describeInChromium("a held form in a page that changes it", ({ givenShop }) => {
  test.each([
    ["is made one that sends nothing", 'button.type = "button"'],
    ["is removed", "button.remove()"],
    ["is given to another form", 'button.setAttribute("form", "other")'],
  ])(
    "the guard passes a held form to the page's own script, even when its button %s meanwhile",
    async (_case, change) => {
      const { page, sent } = await givenShop(GO);
      await takeForms(page);
      await whileHeld(page, `${BUTTON} ${change}`);

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);

      expect(await whenTaken(page)).toMatchObject([{ email: "ann@example.com", hints: 0 }]);
      expect(sent).toEqual([]);
    },
  );

  test("the guard does not send a held form that the browser refuses by then", async () => {
    const { page, sent } = await givenShop(GO);
    await page.evaluate(
      `addEventListener("invalid", () => document.body.append("Taken."), { capture: true })`,
    );
    await whileHeld(
      page,
      `${BUTTON} button.type = "button"; document.querySelector("#email").value = ""`,
    );

    await page.getByLabel("Email").fill("ann@example.com");
    await submit(page);
    await whenTaken(page);

    expect(await page.title()).toBe("Shop");
    expect(sent).toEqual([]);
  });

  test.each(["append", "querySelector", "elements"])(
    "a held form carries its receipt when a field has the name %s",
    async (name) => {
      const form = FORM.replace("</form>", `<input type="hidden" name="${name}"></form>`);
      const { page, sent } = await givenShop(GO, { form });
      await takeForms(page);

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);

      const fields = { go: "1", mailproof_job: "job_7", mailproof_receipt: "a.b.c" };
      expect(await whenTaken(page)).toMatchObject([fields]);
      expect(sent).toEqual([]);
    },
  );

  test("a held form continues when the page has broken the code of a hint", async () => {
    const { page, sent } = await givenShop(answering({ class: "no" }));
    await takeForms(page);
    await page.evaluate("HTMLElement.prototype.focus = () => { throw new Error(); }");

    await page.getByLabel("Email").fill("ann@mailinator.com");
    await submit(page);

    expect(await whenTaken(page)).toMatchObject([{ email: "ann@mailinator.com", go: "1" }]);
    expect(sent).toEqual([]);
  });

  const renewed = `const next = email.cloneNode(); next.value = "bob@example.com"; email.replaceWith(next)`;
  test.each(asRows`
  another address | ${GO} | email.value = "bob@example.com"
  another address than one of no | ${answering({ class: "no" })} | email.value = "bob@example.com"
  another field | ${GO} | ${renewed}
`)(
    "a held form carries nothing of an earlier answer when it contains %s by then",
    async (_case, mood, change) => {
      const earlier = `<input type="hidden" name="mailproof_job" value="job_1">
<input type="hidden" name="mailproof_receipt" value="x.y.z">`;
      const { page, sent } = await givenShop(mood, {
        form: FORM.replace("</form>", `${earlier}</form>`),
      });
      await whileHeld(page, `const email = document.querySelector("#email"); ${change}`);

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);
      await page.getByText("Thanks.").or(hint(page)).waitFor();

      const fields = { mailproof_job: "", mailproof_receipt: "", go: "1" };
      expect(sent).toEqual([{ email: "bob@example.com", ...fields }]);
    },
  );

  test.each(["maybe", "__proto__", "toString", null])(
    "a held form continues without a hint when the answer's class is %j",
    async (found) => {
      const { page } = await givenShop(answering({ class: found }));
      await takeForms(page);

      await page.getByLabel("Email").fill("ann@example.com");
      await submit(page);

      expect(await whenTaken(page)).toEqual([{ email: "ann@example.com", go: "1", hints: 0 }]);
    },
  );

  test("a browser that could not send a form does not hold it", async () => {
    const { page, sent, asked } = await givenShop(GO, {}, { isAlone: true });
    await page.addInitScript("delete HTMLFormElement.prototype.requestSubmit");
    await page.reload();

    await page.getByLabel("Email").fill("ann@example.com");
    await submit(page);
    await thanked(page);

    expect(sent).toEqual([{ email: "ann@example.com", go: "1" }]);
    expect(asked).toEqual([]);
  });

  test("the guard asks about a form without a token when the token has no nonce", async () => {
    const token = '<input type="hidden" autocomplete="email-verification-token" value="x.y.z~k">';
    const { page, asked } = await givenShop(GO, {
      form: FORM.replace("</form>", `${token}</form>`),
    });

    await page.getByLabel("Email").fill("ann@example.com");
    await submit(page);
    await thanked(page);

    expect(asked).toEqual([{ email: "ann@example.com" }]);
  });
});
