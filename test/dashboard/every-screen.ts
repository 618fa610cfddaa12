import { expect } from "vitest";
import { describeInBrowser, type OpenedPage, type View } from "./browser.ts";
import { callApi, createJob, waitForJob } from "./jobs.ts";
import { OPERATOR_KEY } from "./server.ts";

// What is true of every screen, whatever it shows: each one of packages/dashboard/src/screens.ts is tried.
// Each file every-screen-*.test.ts has some of it: all of it would be the one file that is waited for at the end.

export type ScreenEntry = {
  readonly path: string;
  readonly title: string;
  readonly icon?: string;
  readonly needs?: string;
};

// Its file leads to components, which the compiler reads with the settings of their own package alone.
const SCREENS_FILE = "../../packages/dashboard/src/screens.ts";
const { SCREENS, OPERATOR_SCREENS } = (await import(SCREENS_FILE)) as {
  readonly SCREENS: readonly ScreenEntry[];
  readonly OPERATOR_SCREENS: readonly ScreenEntry[];
};

const DOMAIN = "valid.lab.mailproof.test";

type Opened = Pick<OpenedPage, "ready">;

/** A test key's mail arrives by itself. */
const waitForMail = (opened: Opened, id: string): Promise<void> =>
  expect
    .poll(async () => (await callApi(opened, `GET /v1/deliverability/tests/${id}`)).status, {
      timeout: 60_000,
    })
    .toBe("received");

/** Of each screen whose path has a parameter: the address of one that exists. */
const createTargets = async (opened: Opened): Promise<Readonly<Record<string, string>>> => {
  const createEndedJob = async () => {
    const job = await createJob(
      opened,
      ["valid@x.com", "invalid@x.com", "risky@x.com"],
      "Customers",
    );
    await waitForJob(opened, job);
    return job;
  };
  const createReceivedTest = async () => {
    const { test_id } = await callApi(opened, "POST /v1/deliverability/tests", {});
    await waitForMail(opened, test_id);
    return test_id;
  };
  const [job, mailTest, webhook] = await Promise.all([
    createEndedJob(),
    createReceivedTest(),
    callApi(opened, "POST /v1/webhooks", {
      url: "https://example.com/in",
      events: ["job.completed"],
    }),
    callApi(opened, "POST /v1/deliverability/check", { domain: DOMAIN }),
  ]);
  return {
    "lists/:id": `lists/${job}`,
    "domains/:domain": `domains/${DOMAIN}`,
    "domains/:domain/progress": "domains/unaligned.example/progress",
    "domains/:domain/reports": `domains/${DOMAIN}/reports`,
    "domains/:domain/mail-tests": "domains/example.com/mail-tests",
    "mail-tests/:id": `mail-tests/${mailTest}`,
    "webhooks/:id": `webhooks/${webhook.id}`,
  };
};

const createOperatorTargets = async ({ ready }: Opened) => ({
  "accounts/:account": `accounts/${ready.account_id}`,
});

export const readScreen = async ({ page }: OpenedPage) => ({
  path: new URL(page.url()).pathname,
  heading: await page.locator("main h1").textContent(),
  title: await page.title(),
});

type EveryScreen = {
  readonly screens: readonly ScreenEntry[];
  readonly openScreen: (screen: ScreenEntry) => Promise<OpenedPage>;
  readonly isOperator: boolean;
};

const describeScreens = (
  name: string,
  screens: readonly ScreenEntry[],
  signIn: View,
  create: typeof createTargets,
  suite: (every: EveryScreen) => void,
): void =>
  describeInBrowser(name, ({ open }) => {
    let targets: Readonly<Record<string, string>> | undefined;
    const getAddress = (path: string): string => {
      const address = targets?.[path] ?? path;
      if (address.includes(":")) throw new Error(`There is no address for ${path}.`);
      return address;
    };
    const openScreen = async ({ path }: ScreenEntry) => {
      if (targets) return open({ ...signIn, path: getAddress(path) });
      const opened = await open({ ...signIn, path: "no/such/screen" });
      targets = await create(opened);
      await opened.page.goto(`${opened.ready.base_url}/app/${getAddress(path)}`);
      return opened;
    };
    suite({ screens, openScreen, isOperator: screens === OPERATOR_SCREENS });
  });

export const describeEveryScreen = (suite: (every: EveryScreen) => void): void => {
  const isForPeople = ({ needs }: ScreenEntry) => needs === "person" || needs === "people";
  const ofKeys = SCREENS.filter((screen) => !isForPeople(screen));
  describeScreens("every screen of an account", ofKeys, { key: "test" }, createTargets, suite);
  describeScreens(
    "every screen about people",
    SCREENS.filter(isForPeople),
    { role: "owner" },
    async () => ({}),
    suite,
  );
  describeScreens(
    "every screen of an operator",
    OPERATOR_SCREENS,
    { key: { secret: OPERATOR_KEY } },
    createOperatorTargets,
    suite,
  );
};
