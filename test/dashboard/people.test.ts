import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import {
  callOperator,
  checkScreen,
  describeInBrowser,
  invite,
  type OpenedPage,
  waitUntilLoaded,
} from "./browser.ts";
import { OPERATOR_KEY } from "./server.ts";

// People in the dashboard: the first visit, the ways to sign in, and what a role sees.

/** A device with passkeys, whose owner agrees to everything. */
const addAuthenticator = async (page: Page): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
};

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { name, level: 1 });

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

const openMenu = (page: Page): Promise<void> => button(page, "Account").click();

/** The API's answer about the signed-in person, whose types end in the page. */
const readPerson = (page: Page): Promise<any> =>
  page.evaluate("fetch('/v1/person').then((answer) => answer.json())");

const signOut = async (page: Page): Promise<void> => {
  await openMenu(page);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await heading(page, "Sign in").waitFor();
};

const join = async (page: Page, name: string, action = "Join"): Promise<void> => {
  await page.getByLabel("Your name").fill(name);
  await button(page, action).click();
};

const createInvitation = async (page: Page): Promise<string> => {
  await button(page, "Invite a person").click();
  await button(page, "Create the link").click();
  const link = page.locator("dialog code");
  await link.waitFor();
  const url = (await link.textContent()) ?? "";
  await button(page, "Done").click();
  return url;
};

const openOtherBrowser = async ({ page }: OpenedPage): Promise<[Page, BrowserContext]> => {
  const context = await page.context().browser()?.newContext({ reducedMotion: "reduce" });
  if (!context) throw new Error("There is no browser.");
  const other = await context.newPage();
  other.setDefaultTimeout(100_000);
  return [other, context];
};

describeInBrowser(
  "the first ten minutes of a stranger",
  ({ open }) => {
    test("the link of the first start leads to a verdict, a passkey, and people in two accounts", async () => {
      const opened = await open({ isForPeople: true, isAlone: true });
      const { page, ready } = opened;
      await addAuthenticator(page);

      await page.goto(ready.sign_in_url ?? "");
      await page.getByLabel("Your name").waitFor();
      expect(page.url()).toBe(`${ready.base_url}/app/link`);
      await checkScreen(opened, "first-visit");
      await page.getByLabel("The account's name").fill("Lovelace Ltd");
      await join(page, "Ada", "Begin");

      await heading(page, "Welcome, Ada").waitFor();
      await page.getByText("only addresses of its lab").waitFor();
      expect(await page.getByRole("textbox", { name: "Address" }).inputValue()).toContain(
        "@valid.lab",
      );
      await page.getByText("It costs 1 credit.").waitFor();
      await button(page, "Verify").click();
      await page.getByText("has 100 of 100 points").waitFor();
      await checkScreen(opened, "welcome");
      await page.setViewportSize({ width: 1280, height: 800 });
      await button(page, "Later: go to the overview").click();
      await page.getByText("otherwise this sign-in ends in 7 days").waitFor();

      await page.getByRole("link", { name: "Add a passkey" }).click();
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("not used yet").waitFor();
      await expect.poll(() => page.getByText("ends in 7 days").count()).toBe(0);
      await signOut(page);
      await button(page, "Sign in with a passkey").click();
      await heading(page, "Your sign-ins").waitFor();
      await page.getByText("last used").waitFor();

      await page.locator(".side").getByRole("link", { name: "People" }).click();
      await page.getByRole("rowheader", { name: "Ada (you)" }).waitFor();
      const url = await createInvitation(page);
      const pages = [await openOtherBrowser(opened), await openOtherBrowser(opened)] as const;
      const both = pages.map(([one]) => one);
      for (const one of both) {
        await one.goto(url);
        await one.getByText("You are invited to Lovelace Ltd as member").waitFor();
      }
      await Promise.all(both.map((one, at) => join(one, `Guest ${at}`)));
      const outcomes = both.map((one) =>
        heading(one, /Welcome|does not work/).or(one.getByRole("alert")),
      );
      const texts = await Promise.all(outcomes.map((one) => one.first().textContent()));
      expect(texts.filter((text) => text?.startsWith("Welcome"))).toHaveLength(1);
      expect(texts.join()).toContain("This link was used or replaced, or has expired.");
      await Promise.all(pages.map(([, context]) => context.close()));

      const { account_id: account } = await callOperator<{ account_id: string }>(
        ready,
        "accounts.create",
        { name: "A client", plan: "scale", credits: "50" },
      );
      await page.goto(await invite({ ...ready, account_id: account }, "viewer"));
      await page.getByText("You are signed in as Ada.").waitFor();
      await button(page, "Join").click();
      await heading(page, "Overview").waitFor();
      await page.getByText("50 credits").first().waitFor();
      expect(await page.getByRole("textbox", { name: "Verify an address" }).count()).toBe(0);
      await openMenu(page);
      await page.getByRole("radio", { name: "Lovelace Ltd owner" }).click();
      await page.getByText("999,999 credits").first().waitFor();
      await page.getByRole("textbox", { name: "Verify an address" }).waitFor();
      expect(opened.complaints).toEqual([]);
    });
  },
  { OPERATOR_KEY, REACH_DOMAINS: "nxdomain.lab.mailproof.test" },
);

describeInBrowser("the page of a link", ({ open }) => {
  test("a used link says so, and leads to the sign-in", async () => {
    const opened = await open({ isForPeople: true });
    const { page, ready } = opened;
    const url = await invite(ready, "member");
    await page.goto(url);
    await join(page, "Grace");
    await heading(page, "Welcome, Grace").waitFor();

    await page.goto(url);

    await heading(page, "This link does not work").waitFor();
    expect(await page.locator("main").textContent()).toContain("Ask for a new one.");
    await checkScreen(opened, "used-link");
    await page.getByRole("link", { name: "Sign in" }).click();
    await heading(page, "Overview").waitFor();
  });

  test("a link for a locked-out person signs in, and leads to a new passkey", async () => {
    const { page, ready } = await open({ role: "member", path: "settings/sign-ins" });
    await page.getByText("You can sign in by a new link only.").waitFor();
    const { person_id: person } = (await readPerson(page)).data;
    const { url } = await callOperator<{ url: string }>(ready, "people.reset", { person });

    await page.goto(url);
    await button(page, "Sign in").click();

    await heading(page, "Your sign-ins").waitFor();
    expect(page.url()).toBe(`${ready.base_url}/app/settings/sign-ins`);
  });
});

describeInBrowser("the ways to sign in", ({ open }) => {
  test("the sign-in offers a passkey first and folds the key, and is accessible", async () => {
    const opened = await open({ isForPeople: true });
    const { page } = opened;

    await button(page, "Sign in with a passkey").waitFor();

    expect(await page.getByLabel("API key").isVisible()).toBe(false);
    await checkScreen(opened, "sign-in-of-people");
    await page.getByText("Sign in with an API key").click();
    await page.getByLabel("API key").fill(opened.ready.live_key);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await heading(page, "Overview").waitFor();
  });

  test("an address of this machine refers people to the name localhost", async () => {
    const { page, ready } = await open({ key: null });

    const link = page.getByRole("link", { name: /localhost/ });

    expect(await link.getAttribute("href")).toBe(
      `${ready.base_url.replace("127.0.0.1", "localhost")}/app/`,
    );
  });

  test("an address of this machine refers a person with a link to the whole link at localhost", async () => {
    const { page, ready } = await open({ key: null });
    const url = await invite(ready, "viewer");

    await page.goto(url.replace("localhost", "127.0.0.1"));
    await page.getByRole("link", { name: /localhost/ }).click();

    await page.getByLabel("Your name").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

/** An identity provider that sends the browser straight back, and the service's answers about it. */
const playProvider = async (page: Page, base: string, finish: () => object): Promise<void> => {
  const context = page.context();
  await context.route("**/v1/sign-in", (route) =>
    route.fulfill({
      json: {
        success: true,
        data: { oidc: { issuer: "https://id.example/a" }, passkeys: true },
      },
    }),
  );
  await context.route("**/v1/sign-in/oidc", (route) => {
    const { action } = route.request().postDataJSON() as { action: string };
    const data =
      action === "start" ? { url: "https://id.example/authorize?state=s1", flow: "f1" } : finish();
    return "error" in data
      ? route.fulfill({ status: 403, json: { success: false, ...data } })
      : route.fulfill({ json: { success: true, data } });
  });
  await context.route("https://id.example/**", (route) =>
    route.fulfill({
      status: 302,
      headers: { location: `${base}/app/sign-in?code=c1&state=s1` },
    }),
  );
};

const refuse = (message: string, details?: object) => ({
  error: { code: "FORBIDDEN", message, money: "nothing_charged", ...(details && { details }) },
});

const SIGN_IN_AGAIN = refuse("Sign in again.", { sign_in_again: true });

describeInBrowser("an identity provider", ({ open }) => {
  test("the provider's response opens the screen that the person wanted", async () => {
    const { page, ready } = await open({ role: "owner", isAlone: true });
    await waitUntilLoaded({ page });
    await playProvider(page, ready.base_url, () => ({ person_id: "p", next: "/app/usage" }));
    // The tab has no session yet for the page.
    await page.route("**/v1/person", (route) => route.fulfill({ status: 401, json: {} }));
    await page.goto(`${ready.base_url}/app/usage`);
    await button(page, "Sign in with id.example").waitFor();
    await page.unroute("**/v1/person");

    await button(page, "Sign in with id.example").click();

    await heading(page, "Usage").waitFor();
    expect(page.url()).toBe(`${ready.base_url}/app/usage`);
  });

  test("a refusal after the provider is shown in a sentence, with a way back", async () => {
    const { page, ready } = await open({ isForPeople: true, isAlone: true });
    const sentence = "No person of this service has this identity. Ask for an invitation.";
    await playProvider(page, ready.base_url, () => refuse(sentence));
    await page.reload();
    await button(page, "Sign in with id.example").click();

    await heading(page, "The sign-in did not work").waitFor();

    await page.getByText(sentence).waitFor();
    expect(page.url()).toBe(`${ready.base_url}/app/sign-in`);
    await page.getByRole("link", { name: "Try again" }).click();
    await button(page, "Sign in with id.example").waitFor();
  });

  test("a response that no page waits for is not sent to the service", async () => {
    const { page, ready, requests } = await open({ isForPeople: true });

    await page.goto(`${ready.base_url}/app/sign-in?code=c1&state=stolen`);

    await page.getByText("began in another browser or tab, or is over").waitFor();
    expect(requests.filter((one) => one.includes("/v1/sign-in/oidc"))).toEqual([]);
  });

  test("the page of a mail's link ends and resumes all mails, each with one button", async () => {
    const opened = await open({ isForPeople: true, isAlone: true });
    const { page, ready } = opened;
    const sent: string[] = [];
    await page.route("**/v1/mail/unsubscribe*", (route) => {
      const query = new URL(route.request().url()).searchParams;
      sent.push(`${query.get("token")} ${query.get("mail")}`);
      return route.fulfill({ json: { success: true, data: { mail: query.get("mail") } } });
    });

    await page.goto(`${ready.base_url}/app/mail#a-token`);
    await heading(page, "Mails to you").waitFor();
    expect(page.url()).toBe(`${ready.base_url}/app/mail`);
    expect(sent).toEqual([]);
    await button(page, "Get no more mails").click();
    await heading(page, "You get no more mails").waitFor();
    await checkScreen(opened, "mail-switch");
    await button(page, "Get mails again").click();
    await heading(page, "Mails to you").waitFor();

    expect(sent).toEqual(["a-token off", "a-token on"]);
  });

  test("an invitation for an address is accepted by the provider only", async () => {
    const { page, ready } = await open({ isForPeople: true, isAlone: true });
    const data = { kind: "member", role: "member", account_name: "A", email: "a@b.example" };
    await playProvider(page, ready.base_url, () => ({}));
    await page.route("**/v1/sign-in/link", (route) =>
      route.fulfill({ json: { success: true, data } }),
    );

    await page.goto(`${ready.base_url}/app/link#${"t".repeat(43)}`);

    await button(page, "Join with id.example").waitFor();
    expect(await page.getByLabel("Your name").count()).toBe(0);
    await page.getByText("Only a@b.example may accept").waitFor();
  });
});

const addPasskey = async (page: Page, base: string): Promise<void> => {
  await addAuthenticator(page);
  await page.goto(`${base}/app/settings/sign-ins`);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("not used yet").waitFor();
};

/** The API answers as it does five minutes after the sign-in, until the person signs in again. */
const ageSession = async (page: Page, route: string): Promise<void> => {
  let isOld = true;
  page.on("response", (response) => {
    if (response.url().includes("/v1/sign-in/") && response.ok()) isOld = false;
  });
  await page.route(route, (one) =>
    isOld && one.request().method() === "POST"
      ? one.fulfill({ status: 403, json: { success: false, ...SIGN_IN_AGAIN } })
      : one.fallback(),
  );
};

describeInBrowser("an action that needs a recent sign-in", ({ open }) => {
  test("the action asks for the passkey, and is done", async () => {
    const opened = await open({ role: "owner", isAlone: true });
    const { page, ready } = opened;
    await addPasskey(page, ready.base_url);
    await ageSession(page, "**/v1/api-keys");
    await page.goto(`${ready.base_url}/app/settings/api-keys`);
    await button(page, "Create a key").click();
    await page.getByRole("textbox", { name: "Name" }).fill("Shop");
    await button(page, "Create the key").click();

    await page.getByRole("dialog", { name: "Confirm it is you" }).waitFor();
    await checkScreen(opened, "confirm", [1280, 375]);
    await button(page, "Use a passkey").click();

    await page.getByText("This key is shown only once.").waitFor();
    expect(await page.getByRole("dialog", { name: "Confirm it is you" }).count()).toBe(0);
  });

  test("the action is refused with the API's sentence when the person cancels", async () => {
    const { page, ready } = await open({ role: "owner", isAlone: true });
    await addPasskey(page, ready.base_url);
    await ageSession(page, "**/v1/invitations");
    await page.goto(`${ready.base_url}/app/settings/people`);
    await button(page, "Invite a person").click();
    await button(page, "Create the link").click();

    const confirm = page.getByRole("dialog", { name: "Confirm it is you" });
    await confirm.getByRole("button", { name: "Cancel" }).click();

    expect(await page.getByRole("alert").textContent()).toBe("Sign in again.");
  });

  test("a window of the provider confirms the person, and the page keeps its form", async () => {
    const { page, ready } = await open({ role: "owner", isAlone: true });
    await waitUntilLoaded({ page });
    await playProvider(page, ready.base_url, () => ({ person_id: "p", next: "/app/" }));
    const person = await readPerson(page);
    person.data.identities = [{ issuer: "https://id.example/a" }];
    await page.route("**/v1/person", (route) => route.fulfill({ json: person }));
    await ageSession(page, "**/v1/invitations");
    await page.goto(`${ready.base_url}/app/settings/people`);
    await button(page, "Invite a person").click();
    await button(page, "Create the link").click();

    await button(page, "Sign in with id.example").click();

    await page.getByText("It works once").waitFor();
    expect(page.context().pages()).toHaveLength(1);
  });

  test("a person without a passkey learns how to get a new link", async () => {
    const { page, ready } = await open({ role: "owner", isAlone: true });
    await ageSession(page, "**/v1/invitations");
    await page.goto(`${ready.base_url}/app/settings/people`);
    await button(page, "Invite a person").click();
    await button(page, "Create the link").click();

    const dialog = page.getByRole("dialog", { name: "Confirm it is you" });
    expect(await dialog.textContent()).toContain("mailproof admin people reset --person person_");
  });
});

describeInBrowser("a role", ({ open }) => {
  test("a viewer sees results and no form that charges, and no screen of keys or people", async () => {
    const opened = await open({ role: "viewer" });
    const { page, ready } = opened;
    await waitUntilLoaded(opened);

    const screens = await page.locator(".side a").allTextContents();
    expect(screens).toContain("Lists");
    for (const hidden of ["Verify one address", "New list", "Find", "API keys", "People"])
      expect(screens).not.toContain(hidden);
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.goto(`${ready.base_url}/app/verify`);
    await page.getByText("Your role in this account does not include this screen.").waitFor();
    await page.goto(`${ready.base_url}/app/monitors`);
    await heading(page, "Monitors").waitFor();
    await waitUntilLoaded(opened);
    expect(await page.locator("main form").count()).toBe(0);
    expect(opened.complaints).toEqual([]);
  });

  test("a member of the lists alone sees the screens of lists", async () => {
    const opened = await open({ role: "owner", path: "settings/people" });
    const { page } = opened;
    await button(page, "Invite a person").click();
    await page.getByLabel("Limited to").selectOption("lists");
    await page.getByLabel("Credits a month, at most").fill("20");
    await button(page, "Create the link").click();
    const url = (await page.locator("dialog code").textContent()) ?? "";
    const [other, context] = await openOtherBrowser(opened);
    await other.goto(url);
    await join(other, "Linus");
    await button(other, /overview/).click();

    await heading(other, "Overview").waitFor();
    await expect.poll(() => other.locator(".side a").allTextContents()).not.toContain("Domains");
    expect(await other.locator(".side a").allTextContents()).toContain("New list");
    await openMenu(other);
    await other.getByText("You may spend 20 of 20 credits until").waitFor();
    await context.close();
  });

  test("an owner limits the whole account, and sees the limit", async () => {
    const opened = await open({ role: "owner", path: "settings/people" });
    const { page } = opened;
    await button(page, "Change the limits").click();
    await page.getByLabel("Credits a month, at most").fill("500");
    await button(page, "Save").click();

    await page.getByText("All together spend 500 credits a month at most; 500 are left.").waitFor();
    await checkScreen(opened, "people");
    await page.setViewportSize({ width: 1280, height: 800 });
    await button(page, "Change the limits").click();
    expect(await page.getByLabel("Credits a month, at most").inputValue()).toBe("500");
    await page.getByLabel("Credits a month, at most").fill("");
    await button(page, "Save").click();
    await page.getByText("No limit of credits a month.").waitFor();
  });

  test("a person who was removed from the only account is told so, and signs out", async () => {
    const { page, ready } = await open({ role: "member" });
    await waitUntilLoaded({ page });
    const { person_id: person } = (await readPerson(page)).data;
    await callOperator(ready, "people.remove", { account: ready.account_id, person });

    await page.locator(".side").getByRole("link", { name: "Usage" }).click();

    await heading(page, "No account").waitFor();
    expect(await page.locator("main").textContent()).toContain("Ask for an invitation.");
    await button(page, "Sign out").click();
    await heading(page, "Sign in").waitFor();
  });

  test("the log names the person of a request", async () => {
    const { page, ready } = await open({ role: "owner", path: "settings/people" });
    await createInvitation(page);

    await page.goto(`${ready.base_url}/app/logs`);

    const name = page.getByRole("cell", { name: "Grace Hopper" });
    await expect.poll(() => name.count()).toBeGreaterThan(0);
  });

  test("the switch to test data marks the page when a person turns it on", async () => {
    const { page } = await open({ role: "owner" });
    await openMenu(page);

    await page.getByRole("radio", { name: "Test, simulated" }).click();

    await page.getByText("Results are simulated, and nothing is charged.").waitFor();
    await page.reload();
    await heading(page, "Overview").waitFor();
    expect(await page.getByText("Results are simulated, and nothing is charged.").count()).toBe(1);
  });
});
