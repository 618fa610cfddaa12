import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { invite } from "@mailproof/core/people/invitations";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { describeInBrowser, type OpenedPage } from "./browser.ts";

// Passkeys of the real browser, with Chromium's virtual authenticator. test/story/passkeys.test.ts has the other cases.

const MODULE = "packages/dashboard/src/people/passkey.ts";

const buildModule = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [MODULE],
    bundle: true,
    format: "esm",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
};

/** The token of a new owner's link, written beside the running server. */
const inviteOwner = async ({ folder, ready }: OpenedPage): Promise<string> => {
  const now = () => new Date();
  const table = createSqliteTable(join(folder, "state.sqlite"), now, () => undefined);
  onTestFinished(() => table.close());
  const { world } = givenWorld(now().getTime());
  const { token } = await invite(
    { ...world, table, now, newId: (prefix) => `${prefix}_${crypto.randomUUID()}` },
    { kind: "member", account: ready.account_id, role: "owner", invitedBy: null },
  );
  return token;
};

const SEND = `globalThis.send = async (method, path, content) => {
  const response = await fetch(path, {
    method,
    headers: { "content-type": "application/json" },
    ...(content && { body: JSON.stringify(content) }),
  });
  return { status: response.status, ...(await response.json()) };
};
globalThis.use = async ({ challenge, rpId }) => {
  const bytes = Uint8Array.fromBase64(challenge, { alphabet: "base64url" });
  const publicKey = { challenge: bytes, rpId, userVerification: "required" };
  return (await navigator.credentials.get({ publicKey })).toJSON();
};`;

const SIGN_IN = "/v1/sign-in/passkey";

describeInBrowser("passkeys", ({ open }) => {
  /** The page at localhost, with an authenticator, the dashboard's module and a signed-in owner. */
  const openSignedIn = async () => {
    const opened = await open({ key: null, isAlone: true });
    const { page, ready, complaints } = opened;
    const origin = ready.base_url.replace("127.0.0.1", "localhost");
    const contentType = "text/javascript";
    const body = await buildModule();
    await page.route("**/assets/passkey.js", (route) => route.fulfill({ contentType, body }));
    await page.addInitScript(SEND);
    await page.goto(`${origin}/app/`);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    /** Any: the page's values are without types. */
    const run = (script: string): Promise<any> => page.evaluate(script);
    const send = (method: string, path: string, content?: object) =>
      run(`send(${JSON.stringify([method, path, content]).slice(1, -1)})`);
    const call = (script: string) =>
      run(`import("/app/assets/passkey.js").then((passkeys) => passkeys.${script})
        .then(() => "done", ({ code, message }) => code + ": " + message)`);
    const token = await inviteOwner(opened);
    const link = { token, accept: true, name: "Ada" };
    expect(await send("POST", "/v1/sign-in/link", link)).toMatchObject({ status: 200 });
    const policy = () => complaints.filter((one) => one.startsWith("refused by the policy"));
    return { ...opened, origin, cdp, authenticatorId, run, send, call, policy };
  };

  const REFUSED = /^FORBIDDEN: This passkey was not accepted\./;

  test("a person adds a passkey, signs out, and signs in by it", async () => {
    const { call, send, policy } = await openSignedIn();
    const { data: before } = await send("GET", "/v1/person");

    expect(await call(`createPasskey("Laptop")`)).toBe("done");
    expect(await call(`createPasskey("Laptop")`)).toMatch(/already has a passkey for you/);
    await send("DELETE", "/v1/session");
    expect(await send("GET", "/v1/person")).toMatchObject({ status: 401 });
    expect(await call("signInByPasskey()")).toBe("done");

    const { data } = await send("GET", "/v1/person");
    expect(data).toMatchObject({
      person_id: before.person_id,
      passkeys: [{ name: "Laptop", last_used_at: expect.any(String) }],
    });
    expect(policy()).toEqual([]);
  });

  test("a person who does not confirm gets an error with the code ABORTED", async () => {
    const { call, cdp, authenticatorId } = await openSignedIn();
    await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });

    expect(await call(`createPasskey("Laptop")`)).toBe("ABORTED: No passkey was used.");
  });

  test("a page at another port of localhost cannot use the passkey for this service", async () => {
    const { call, run, page, origin } = await openSignedIn();
    await call(`createPasskey("Laptop")`);
    const other = createServer((_, response) => response.end("another page")).listen(
      0,
      "127.0.0.1",
    );
    onTestFinished(() => void other.close());
    await once(other, "listening");
    /** Not from a page: with any header. */
    const sendAlone = async (content: object): Promise<any> => {
      const response = await fetch(origin.replace("localhost", "127.0.0.1") + SIGN_IN, {
        method: "POST",
        headers: { "content-type": "application/json", origin },
        body: JSON.stringify(content),
      });
      return response.json();
    };
    const { data } = await sendAlone({ action: "start" });

    await page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
    const response = await run(`use(${JSON.stringify(data.options)})`);
    const { error } = await sendAlone({ action: "finish", response });

    expect(response).toMatchObject({
      type: "public-key",
      response: { signature: expect.any(String) },
    });
    expect(`${error.code}: ${error.message}`).toMatch(REFUSED);
  });

  test("a copy of an authenticator is refused after the original was used", async () => {
    const { call, cdp, authenticatorId } = await openSignedIn();
    await call(`createPasskey("Laptop")`);
    const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
    const [credential] = credentials;
    for (const _ of [1, 2]) expect(await call("signInByPasskey()")).toBe("done");

    await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    if (credential) await cdp.send("WebAuthn.addCredential", { authenticatorId, credential });

    expect(await call("signInByPasskey()")).toMatch(REFUSED);
  });

  test("a removed passkey no longer signs in", async () => {
    const { call, cdp, authenticatorId, send } = await openSignedIn();
    await call(`createPasskey("Laptop")`);
    const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
    // The person has two authenticators, and the page sees one of them.
    await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    await call(`createPasskey("Phone")`);
    await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    const [credential] = credentials;
    if (credential) await cdp.send("WebAuthn.addCredential", { authenticatorId, credential });
    const { passkeys } = (await send("GET", "/v1/person")).data;
    const { passkey_id: id } = passkeys.find((one: { name: string }) => one.name === "Laptop");

    expect(await send("DELETE", `/v1/passkeys/${id}`)).toMatchObject({ status: 200 });

    expect(await call("signInByPasskey()")).toMatch(REFUSED);
  });
});
