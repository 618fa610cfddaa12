import type { Client } from "@mailproof/client/client";
import { MailproofError } from "@mailproof/client/errors";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { serveAccounts, whenLosing } from "../servers/proxied-server.ts";

const whenServed = serveAccounts();

// Goal: whatever answers are lost, a call is paid for once. The server is real, and so are the broken connections.

const ADA = "ada.lovelace@valid.lab.mailproof.test";
const EMAILS = [ADA, "nobody@valid.lab.mailproof.test"];
const LIST = new Blob([["email", ...EMAILS].join("\n")]);

const getFailure = async (call: Promise<unknown>): Promise<MailproofError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof MailproofError) return error;
  throw new Error("no MailproofError", { cause: error });
};

const upload = async (client: Client): Promise<string> => {
  const { upload_url, file_key } = await client.createUpload({ file_name: "list.csv" });
  await fetch(upload_url, { method: "PUT", body: LIST });
  return file_key;
};

const getKeys = (seen: readonly { readonly key: string | undefined }[]) =>
  seen.flatMap(({ key }) => (key === undefined ? [] : [key]));

test.each(asRows`
  verify | 1 | ${(client: Client) => client.verifyEmail({ email: ADA })}
  verifyBatch | 2 | ${(client: Client) => client.verifyBatch({ emails: ["a@x.com", "b@x.com"] })}
  processFile | 2 | ${async (client: Client) => client.processFile({ file_key: await upload(client) })}
  checkDomain | 10 | ${(client: Client) => client.checkDomain({ domain: "good.senders.lab.mailproof.test" })}
`)(
  "the client's call %s with three lost responses is charged once: %i credits",
  async (_, price, call) => {
    const { baseUrl, clientWith, spent } = await whenServed();
    const proxy = await whenLosing(
      baseUrl,
      ({ key }, before) => key !== undefined && getKeys(before).length < 3,
    );

    const response = await call(clientWith({ baseUrl: proxy.url }));

    const keys = getKeys(proxy.seen);
    expect(response).toMatchObject({ idempotent_replay: true });
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(await spent()).toBe(price);
  },
);

test("the client's error contains the key of an unanswered call, and a repeat with it returns the paid result", async () => {
  const { baseUrl, clientWith, client, spent } = await whenServed();
  const proxy = await whenLosing(baseUrl, () => true);

  const error = await getFailure(clientWith({ baseUrl: proxy.url }).verifyEmail({ email: ADA }));
  const { idempotencyKey } = error;
  const response = await client.verifyEmail({ email: ADA }, { idempotencyKey });

  expect(error).toMatchObject({ code: "NETWORK", money: "retry_same_key", retryable: true });
  expect(error.message).toContain("with the same idempotencyKey");
  expect(proxy.seen).toHaveLength(5);
  expect(response).toMatchObject({ email: ADA, idempotent_replay: true, credits_used: 0 });
  expect(await spent()).toBe(1);
});

test("the client never repeats a search whose response is lost, and its error states the possible charge", async () => {
  const { baseUrl, clientWith, spent } = await whenServed();
  const proxy = await whenLosing(baseUrl, () => true);
  const wanted = { first_name: "Ada", last_name: "Lovelace", domain: "valid.lab.mailproof.test" };

  const error = await getFailure(clientWith({ baseUrl: proxy.url }).findEmail(wanted));

  expect(error).toMatchObject({ code: "NETWORK", money: "repeat_search", retryable: false });
  expect(proxy.seen).toHaveLength(1);
  expect(await spent()).toBe(5);
});

test("the client does not repeat the creation of an API key whose response is lost", async () => {
  const { baseUrl, clientWith, client } = await whenServed();
  const proxy = await whenLosing(baseUrl, () => true);
  const wanted = { name: "Shop", mode: "test" } as const;

  const error = await getFailure(clientWith({ baseUrl: proxy.url }).createApiKey(wanted));
  const { api_keys } = await client.listApiKeys();

  expect(error).toMatchObject({ code: "NETWORK", money: "nothing_charged", retryable: false });
  expect(api_keys.filter(({ name }) => name === "Shop")).toHaveLength(1);
});

test("a client's file with every second response lost is charged once, and its results are complete", async () => {
  const { baseUrl, clientWith, spent } = await whenServed();
  const proxy = await whenLosing(baseUrl, (_, before) => before.length % 2 === 0);

  const done = await clientWith({ baseUrl: proxy.url }).verifyFile(LIST);
  const rows = await Array.fromAsync(done.results(), ({ email }) => email);

  expect(done.job.status).toBe("completed");
  expect(rows).toEqual(EMAILS);
  expect(await spent()).toBe(2);
});

test("a client's error contains the service's own message and outcome for the money", async () => {
  const { baseUrl, client, clientWith, testKey } = await whenServed();

  const empty = await getFailure(client.verifyEmail({ email: "" }));
  const unauthorized = await getFailure(clientWith({ key: "nobody's" }).getAccount());
  const broken = await getFailure(
    clientWith({ key: testKey }).verifyEmail({ email: "error@example.com" }),
  );

  expect(empty).toMatchObject({
    status: 400,
    code: "INVALID_REQUEST",
    message: "email: must not be empty. Nothing was charged.",
    money: "nothing_charged",
    details: [{ field: "email", message: "must not be empty" }],
    retryable: false,
    requestId: expect.stringMatching(/^req_/),
    docUrl: `${baseUrl}/docs/errors#INVALID_REQUEST`,
  });
  expect(unauthorized).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
  expect(broken).toMatchObject({ status: 500, code: "INTERNAL", money: "nothing_charged" });
});

test("the client's error of a lost file acceptance contains all that its repeat needs, for one charge", async () => {
  const { baseUrl, clientWith, client, spent } = await whenServed();
  const proxy = await whenLosing(baseUrl, ({ key }) => key !== undefined);

  const error = await getFailure(clientWith({ baseUrl: proxy.url }).verifyFile(LIST));
  const { file_key } = error.details as { file_key: string };
  const { idempotencyKey } = error;
  const response = await client.processFile({ file_key }, { idempotencyKey });

  // Another verifyFile would be another upload: refused under this key, and paid for under another.
  expect(error).toMatchObject({ code: "NETWORK", money: "retry_same_key", retryable: false });
  expect(error.message).toContain("processFile");
  expect(response).toMatchObject({ idempotent_replay: true, credits_used: 0, unique_emails: 2 });
  expect(await spent()).toBe(2);
});
