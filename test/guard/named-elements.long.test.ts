import { isDeepStrictEqual } from "node:util";
import { MODULE_PATH, SCRIPT, SCRIPT_PATH } from "@mailproof/guard/built";
import type { Page } from "playwright-core";
import { parseSync, Visitor } from "vite";
import { expect, test } from "vitest";
import { describeInChromium } from "./chromium.ts";
import { answering, serveGuard } from "./page.ts";

// An element that is named like a property hides that property of its document or form, and of the window where the window
// has none itself. The names come from the script that pages load: each property and each global that it reads.

type Read = { readonly name: string; readonly start: number; readonly end: number };

const listReads = (script: string): readonly Read[] => {
  const reads: Read[] = [];
  const add = (name: string, { start, end }: { readonly start: number; readonly end: number }) =>
    void reads.push({ name, start, end });
  new Visitor({
    MemberExpression: (node) => {
      if (node.property.type === "Identifier" && !node.computed) add(node.property.name, node);
    },
    ObjectPattern: ({ properties }) => {
      for (const one of properties)
        if (one.type === "Property" && one.key.type === "Identifier") add(one.key.name, one);
    },
    // What a helper reads by its name, as in read(Document, "currentScript", document).
    Literal: (node) => {
      if (typeof node.value === "string" && /^[a-z]\w+$/i.test(node.value)) add(node.value, node);
    },
    // The bundle's own names have one letter or two.
    Identifier: (node) => {
      if (node.name.length > 2) add(node.name, node);
    },
  }).visit(parseSync("guard.js", script).program);
  return reads;
};

const READS = listReads(SCRIPT);

/** `[...collection]` and `await` read these without naming them. */
const UNNAMED = ["length", "item", "then"];

const NAMES = [...new Set([...READS.map(({ name }) => name), ...UNNAMED])].toSorted();

const FORM = `<iframe name="result"></iframe><form action="/signup" target="result">
<input id="email" type="email" name="address" autocomplete="email">
<input type="hidden" name="evt" autocomplete="email-verification-token" nonce="n-1" value="x.y.z~k">
FIELDS<button id="send" name="go" value="1">Sign up</button></form>`;

/** Corrects an address, is refused one, and signs up. It reads the page by prototypes, as the guard has to. */
const createVisit = (module: string, other: string): string => `(async () => {
  const find = (selector) => Document.prototype.querySelector.call(document, selector);
  const whenFound = (selector) => new Promise((resolve) => {
    const look = () => { if (find(selector)) resolve(find(selector)); };
    new MutationObserver(look).observe(find("html"), { subtree: true, childList: true });
    look();
  });
  const { guard } = await import("${module}");
  // It ends at once, so nothing may reach this host.
  guard({ key: "mp_pub_0", api: "${other}" })();
  const email = find("#email");
  const type = (text) => {
    email.value = text;
    for (const type of ["input", "change"]) email.dispatchEvent(new Event(type, { bubbles: true }));
  };
  const send = () => HTMLFormElement.prototype.requestSubmit.call(find("form"), find("#send"));
  type("ann@mailinator.com");
  send();
  await whenFound("[role=alert]");
  type("ann@gmial.com");
  (await whenFound("[role=status] button")).click();
  send();
})()`;

const answerTo = (email: string) => {
  if (email === "ann@mailinator.com") return answering({ class: "no" });
  if (email === "ann@gmial.com") return answering({ class: "ask", did_you_mean: "ann@gmail.com" });
  return answering({ class: "go", receipt: "a.b.c" });
};

/** The form, the elements of strangers before the guard's element and in the form, and what comes after. */
const writePage = ({ host = "", before = "", fields = "", after = "" }): string =>
  `<!doctype html><title>Shop</title>${FORM.replace("FIELDS", fields)}${before}
<script src="${host}${SCRIPT_PATH}" data-key="mp_pub_0" defer></script>${after}`;

const namePage = (names: readonly string[], host: string, other: string): string =>
  writePage({
    host,
    before: names
      .map((one) => `<img name="${one}" id="${one}" src="${other}/x.png" data-key="mp_pub_1">`)
      .join(""),
    fields: names.map((one) => `<input type="hidden" name="${one}">`).join(""),
  });

describeInChromium("the guard in a page with markup of strangers", ({ whenOpened }) => {
  /** `write` makes the page from the hosts of the service and of a stranger. */
  const visit = async (
    write: (host: string, other: string) => string,
    watch: (page: Page) => Promise<unknown> = async () => undefined,
  ) => {
    const own = await serveGuard(answerTo);
    const told = Promise.withResolvers<void>();
    const other = await serveGuard(() => {
      told.resolve();
      return answering({ class: "ask", did_you_mean: "eve@example.com", receipt: "e.v.e" });
    });
    const shop = await serveGuard(answerTo, write(own.url, other.url));
    const page = await whenOpened("about:blank");
    await watch(page);
    const sent = page.waitForRequest("**/signup?**").catch(() => undefined);
    await page.goto(shop.url);
    const session = await page.context().newCDPSession(page);
    const expression = createVisit(own.url + MODULE_PATH, other.url);
    // A form that goes on too early leaves the visitor waiting for a hint.
    const driven = await Promise.race([
      session.send("Runtime.evaluate", { expression, awaitPromise: true }),
      sent,
      told.promise,
    ]);
    const failure = driven && "exceptionDetails" in driven && driven.exceptionDetails?.text;
    const form = failure ? undefined : await Promise.race([sent, told.promise]);
    const fields = [...new URL(form?.url() ?? shop.url).searchParams];
    return {
      failure: failure ?? false,
      fields: Object.fromEntries(fields.filter(([, value]) => value !== "")),
      asked: [...own.asked, ...shop.asked].map(({ email }) => email),
      told: other.asked,
    };
  };

  const SIGNED_UP = {
    failure: false,
    fields: {
      address: "ann@gmail.com",
      evt: "x.y.z~k",
      go: "1",
      mailproof_job: "job_7",
      mailproof_receipt: "a.b.c",
    },
    asked: ["ann@mailinator.com", "ann@gmial.com", "ann@gmail.com"],
    told: [],
  };

  test("the guard asks its own host, even when an element's name replaces a property of the document", async () => {
    const isSafe = async (...names: readonly string[]): Promise<boolean> =>
      isDeepStrictEqual(await visit((...hosts) => namePage(names, ...hosts)), SIGNED_UP);
    const unsafe: string[] = [];
    // One page has them all. If it fails, a page for each name finds the cause.
    if (!(await isSafe(...NAMES)))
      for (const name of NAMES) if (!(await isSafe(name))) unsafe.push(name);

    expect(unsafe).toEqual([]);
  });

  test("the guard asks its own host when a <base> follows its relative address", async () => {
    const after = (other: string) => `<base href="${other}/">`;

    expect(await visit((_host, other) => writePage({ after: after(other) }))).toEqual(SIGNED_UP);
  });

  test("the test sees the guard read each property that it can read", async () => {
    let page: Page | undefined;
    await visit(
      (host) => writePage({ host }),
      async (opened) => {
        page = opened;
        await page.coverage.startJSCoverage({ reportAnonymousScripts: false });
      },
    );
    const entries = (await page?.coverage.stopJSCoverage()) ?? [];
    const ranges = entries
      .filter(({ url }) => url.endsWith(SCRIPT_PATH))
      .flatMap(({ functions }) => functions.flatMap((one) => one.ranges));
    const isRun = ({ start, end }: Read): boolean =>
      // The innermost range around it decides.
      (ranges
        .filter((one) => one.startOffset <= start && end <= one.endOffset)
        .toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))[0]
        ?.count ?? 0) > 0;

    const missed = READS.filter((one) => !isRun(one)).map(({ name }) => name);
    // Of the guard's own maps, sets and timers, and of the error for a wrong element. The module's end is in the visit.
    const others = ["TypeError", "abort", "add", "call", "delete", "document", "forEach", "go"];
    expect([...new Set(missed)].toSorted()).toEqual([...others, "has", "removeEventListener"]);
  });
});
