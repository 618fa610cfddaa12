import { expect, test } from "vitest";
import { createBrowser, givenMember, givenOwner } from "../app/people.ts";

test("the link of the first visit makes an owner, names the account and begins a session", async () => {
  const { browser, accepted, account } = await givenOwner({ balance: 7 });

  expect(accepted).toMatchObject({
    statusCode: 200,
    data: { kind: "first", role: "owner", signed_in: { account_id: account } },
  });
  expect(accepted.headers["set-cookie"]).toMatch(
    /^__Host-mailproof=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=604800$/,
  );
  const person = await browser.send("GET /v1/person");
  expect(person.data).toMatchObject({
    name: "Ada",
    recently_signed_in: true,
    accounts: [{ account_id: account, name: "Lovelace Ltd", role: "owner" }],
  });
  const seen = await browser.send("GET /v1/account", { account });
  expect(seen.data.credits.available).toBe(7);
});

test("the link of the first visit works once", async () => {
  const { world, token } = await givenOwner();

  const again = await createBrowser(world).send("POST /v1/sign-in/link", {
    body: { token, accept: true, name: "Eve" },
  });

  expect(again.statusCode).toBe(404);
});

test("an invited member has the rights of the role until an owner removes the member", async () => {
  const owner = await givenOwner();
  const { account } = owner;
  const { browser, person } = await givenMember(owner, "viewer");

  expect((await browser.send("GET /v1/account", { account })).statusCode).toBe(200);
  const refused = await browser.send("POST /v1/verify", {
    account,
    body: { email: "a@b.example" },
  });
  expect(refused).toMatchObject({ statusCode: 403 });

  const removed = await owner.browser.send(`DELETE /v1/members/${person}`, { account });
  expect(removed.statusCode).toBe(200);
  expect((await browser.send("GET /v1/account", { account })).statusCode).toBe(401);
});
