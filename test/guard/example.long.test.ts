import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { join } from "node:path";
import { backEnds, page as pageOf } from "@mailproof/docs-site/form-programs";
import { expect, onTestFinished, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { createFolder, serveFile } from "../servers/running.ts";
import { findToolAbsence, getToolFolder } from "../third-party/tools.ts";
import { describeInChromium } from "./chromium.ts";

// The example of the manual's page "Protect a sign-up form", as it is printed: only the key is filled in.

const service = serveFile();

/** Of a port that is free now: the key names the page's origin before the program has it. */
const findOrigin = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return `http://localhost:${port}`;
};

const until = async (url: string, program: ChildProcess): Promise<void> => {
  while (program.exitCode === null) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the program has ended");
};

/** The service, and the program of the page in this language before it. */
const givenSite = async (
  language: string,
  command: string,
  file: string,
  environment: Readonly<Record<string, string>> = {},
) => {
  const origin = await findOrigin();
  const { ready } = await service.server;
  const created = await fetch(`${ready.base_url}/v1/api-keys`, {
    method: "POST",
    headers: { "x-api-key": ready.test_key, "content-type": "application/json" },
    body: JSON.stringify({ name: "Form", mode: "test", public: { origins: [origin] } }),
  });
  const account = await fetch(`${ready.base_url}/v1/account`, {
    headers: { "x-api-key": ready.test_key },
  });
  const { account_id } = ((await account.json()) as any).data;
  const { data } = (await created.json()) as { readonly data: { readonly key: string } };
  const folder = createFolder();
  symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "signup.html"), pageOf(ready.base_url).replace("mp_pub_…", data.key));
  const { text = "" } = backEnds(ready.base_url).find((one) => one.language === language) ?? {};
  writeFileSync(join(folder, file), text);
  const program = spawn(command, [file], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: new URL(origin).port,
      ORIGIN: origin,
      MAILPROOF_KEY: ready.test_key,
      MAILPROOF_ACCOUNT: account_id,
      MODE: "test",
      ...environment,
    },
    stdio: "ignore",
  });
  onTestFinished(() => void program.kill());
  await until(origin, program);
  const post = async (fields: Record<string, string>) => {
    const { status } = await fetch(`${origin}/signup`, {
      method: "POST",
      body: new URLSearchParams(fields),
    });
    return status;
  };
  const getReceipt = async (email: string, control?: object) => {
    const answer = await fetch(`${ready.base_url}/v1/verify/form`, {
      method: "POST",
      headers: { "x-api-key": data.key, "content-type": "application/json", origin },
      body: JSON.stringify({ email, control }),
    });
    return ((await answer.json()) as any).data.receipt as string;
  };
  return { origin, post, getReceipt };
};

/** What becomes of sign-ups with receipts. */
const OUTCOMES = {
  "with its receipt": 200,
  "with the receipt of no": 422,
  // From here on the back end asks by itself.
  "with the receipt of another address": 422,
  "with a changed receipt": 200,
  "without a receipt, disposable": 422,
  // Whether there is a mailbox is not for visitors.
  "without a receipt, missing": 200,
  "without a receipt": 200,
};

const signUp = async ({ post, getReceipt }: Awaited<ReturnType<typeof givenSite>>) => {
  const good = await getReceipt("Ann@example.com");
  const refused = await getReceipt("ann@mailinator.com");
  const [head = "", claims = "", signature = ""] = refused.split(".");
  const changed = [head, claims.replace(/.$/, (last) => (last === "A" ? "B" : "A")), signature];
  return {
    "with its receipt": await post({ email: " ann@example.com", mailproof_receipt: good }),
    "with the receipt of no": await post({
      email: "ann@mailinator.com",
      mailproof_receipt: refused,
    }),
    "with the receipt of another address": await post({
      email: "ann@mailinator.com",
      mailproof_receipt: good,
    }),
    "with a changed receipt": await post({
      email: "ann@example.com",
      mailproof_receipt: changed.join("."),
    }),
    "without a receipt, disposable": await post({ email: "bo@mailinator.com" }),
    "without a receipt, missing": await post({ email: "invalid@example.com" }),
    "without a receipt": await post({ email: "bo@example.com" }),
  };
};

test("the page's back end in Node accepts receipts as the page describes", async () => {
  expect(await signUp(await givenSite("Node", process.execPath, "server.mjs"))).toEqual(OUTCOMES);
});

test.each([{ MODE: "live" }, { MAILPROOF_ACCOUNT: "acct_other" }])(
  "a back end of %o refuses a receipt of another mode or account, and asks by itself",
  async (environment) => {
    const { origin, post, getReceipt } = await givenSite(
      "Node",
      process.execPath,
      "server.mjs",
      environment,
    );
    const email = "ann@nullmx.example.com";
    const receipt = await getReceipt(email, { token: "test-controlled", nonce: "n", origin });

    expect(await post({ email, mailproof_receipt: receipt })).toBe(422);
  },
);

test("a visitor who closes the connection while sending does not end the back end in Node", async () => {
  const { origin, post } = await givenSite("Node", process.execPath, "server.mjs");
  const { port } = new URL(origin);
  const socket = connect(Number(port), "localhost");
  socket.write("POST /signup HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nemail=");
  setTimeout(() => socket.destroy(), 100);
  await once(socket, "close");

  expect(await post({ email: "bo@example.com" })).toBe(200);
});

describeUnless(findToolAbsence("joserfc"), "the page's back end in Python", () => {
  test("the page's back end in Python accepts receipts as the page describes", async () => {
    const command = join(getToolFolder("joserfc"), "bin/python");
    expect(await signUp(await givenSite("Python", command, "server.py"))).toEqual(OUTCOMES);
  });
});

describeInChromium("the page itself", ({ whenOpened }) => {
  test("the page shows the hint in Chromium, and the visitor signs up after it", async () => {
    const { origin } = await givenSite("Node", process.execPath, "server.mjs");
    const page = await whenOpened(origin);

    await page.getByLabel("Email").fill("ann@mailinator.com");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Please enter another address").waitFor();
    await page.getByLabel("Email").fill("ann@example.com");
    await page.keyboard.press("Enter");
    await page.getByText("Thanks.").waitFor();
    expect(await page.textContent("body")).toBe("Thanks. Please look for our mail.");
  });
});
