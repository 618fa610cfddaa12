import { toPublicJwk } from "@mailproof/lab/issuer";
import { expect, test } from "vitest";
import { rejectDown, withTable } from "../app/faulty-worlds.ts";
import { listMoves, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { EMAIL, givenIssuer, ISSUER, KEYS_URL, NONCE, ORIGIN } from "../things/control.ts";
import { givenForm, ROUTE } from "../things/forms.ts";

// Repeats of what a visitor sent, and the day of the key.

const readClaims = (receipt: string) =>
  JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString());

test("a repeated form with its Idempotency-Key returns the same job and charges nothing", async () => {
  const { world, liveKey, ...ctx } = await givenForm();
  const sent = {
    key: liveKey,
    body: { email: "ann@example.com" },
    headers: { "idempotency-key": "one" },
  };

  await send(world, ROUTE, sent);
  const { data } = await send(world, ROUTE, sent);

  expect(data).toMatchObject({ job_id: "job_1", credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["hold 1"]);
  expect((await whenVerified(world, liveKey, sent.body, "one")).statusCode).toBe(409);
});

test("visitors' Idempotency-Keys neither block the account's keys nor reveal its used ones", async () => {
  const { world, liveKey, publicKey } = await givenForm();
  const ask = (email: string, key: string) =>
    send(world, ROUTE, {
      key: publicKey,
      body: { email },
      headers: { origin: ORIGIN, "idempotency-key": key },
    });
  const first = await ask("ann@example.com", "order-1");

  expect((await whenVerified(world, liveKey, { email: "bo@x.com" }, "order-1")).statusCode).toBe(
    200,
  );
  await whenVerified(world, liveKey, { email: "bo@x.com" }, "order-2");
  expect((await ask("ann@example.com", "order-2")).statusCode).toBe(200);
  expect((await ask("ann@example.com", "order-1")).data).toMatchObject({
    job_id: first.data.job_id,
    idempotent_replay: true,
  });
});

test("two visitors with one Idempotency-Key receive separate results", async () => {
  const { ask } = await givenForm();
  const first = await ask("ann@example.com", { ip: "192.0.2.1", key: "1" });
  const other = await ask("bo@example.com", { ip: "198.51.100.7", key: "1" });
  const same = await ask("ann@example.com", { ip: "203.0.113.7", key: "1" });

  expect([first, other, same].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(new Set([first, other, same].map(({ data }) => data.job_id)).size).toBe(3);
});

/** A visitor with a token that is for one address, as long as the issuer's keys can be read. */
const givenVisitor = async (email: string) => {
  const ctx = await givenForm();
  const domain = email.slice(email.indexOf("@") + 1);
  const zone = { [`_email-verification.${domain}`]: { TXT: [`iss=${ISSUER}`] } };
  const issuer = await givenIssuer(ctx.world, { zone });
  const control = { token: await issuer.present({}, { email }), nonce: NONCE, origin: ORIGIN };
  const ask = (world = issuer.world) =>
    send(world, ROUTE, {
      key: ctx.publicKey,
      body: { email, control },
      clientIp: "192.0.2.1",
      headers: { origin: ORIGIN, "idempotency-key": "one" },
    });
  return {
    ...ctx,
    issuer,
    ask,
    hideKeys: () => issuer.fail(KEYS_URL, "timeout"),
    showKeys: () => {
      issuer.serve(KEYS_URL, { keys: [toPublicJwk(issuer.issuerKey)] });
      ctx.later(61_000);
    },
  };
};

test("a repeated form with an expired token returns the first response with its receipt", async () => {
  const { ask, ...ctx } = await givenVisitor(EMAIL);
  const first = await ask();
  expect(readClaims(first.data.receipt)).toMatchObject({ proof: "controlled" });

  ctx.later(600_000);
  const { data } = await ask();

  expect(data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["charge 0.5"]);
});

test("a repeated form whose control is proven later returns the first response's class and job", async () => {
  const { ask, hideKeys, showKeys, ...ctx } = await givenVisitor("ann@nullmx.example.com");
  hideKeys();
  const first = await ask();
  expect(first.data).toMatchObject({ class: "no", job_id: "job_1" });

  showKeys();
  const { data } = await ask();

  const { class: found, job_id, control, receipt } = first.data;
  expect(data).toMatchObject({ class: found, job_id, control, credits_used: 0 });
  expect(readClaims(data.receipt)).toMatchObject({ class: "no", jti: job_id });
  expect(readClaims(receipt)).toMatchObject({ class: "no", jti: job_id });
  expect(listMoves(ctx)).toEqual(["hold 1"]);
});

test("a verification that a crash left continues as a job, even when control is proven later", async () => {
  const { ask, hideKeys, showKeys, issuer, ...ctx } = await givenVisitor("invalid@example.com");
  hideKeys();
  const crashing = withTable(
    { ...ctx, world: issuer.world },
    {
      transact: async (writes) => {
        if (JSON.stringify(writes).includes('"single"')) throw new Error("the process is gone");
        return ctx.table.transact(writes);
      },
    },
  );
  expect((await ask({ ...issuer.world, table: crashing.table })).statusCode).toBe(503);
  expect(listMoves(ctx)).toEqual(["hold 1"]);

  showKeys();
  const { data } = await ask();

  expect(data).toMatchObject({ class: "go", reason: null, job_id: expect.any(String) });
  expect(readClaims(data.receipt)).not.toHaveProperty("status");
  expect(listMoves(ctx)).toEqual(["hold 1"]);
  await thenConsistent(ctx);
});

test("a public key limits the verifications of a day, and a crash never adds one", async () => {
  const { ask, later, keyId, ...ctx } = await givenForm({ limit: 2 });

  const statuses = [];
  for (const name of ["a", "b", "c"])
    statuses.push(
      (await ask(`${name}@example.com`, { ip: `192.0.2.${name.charCodeAt(0)}` })).statusCode,
    );
  expect(statuses).toEqual([200, 200, 429]);
  const { error, headers } = await ask("d@example.com");
  expect(error.message).toBe(
    "This public key has made its 2 verifications of today (UTC). Nothing was charged.",
  );
  expect(headers["retry-after"]).toBe("86400");
  expect(listMoves(ctx)).toEqual(["hold 1", "hold 1"]);

  later(86_400_000);
  expect((await ask("e@example.com")).statusCode).toBe(200);
  expect(keyId).toBe("key_3");
});

test("a repeated form does not count towards the daily limit and is answered beyond the limit", async () => {
  const { ask } = await givenForm({ limit: 2 });
  const first = await ask("ann@example.com", { key: "one" });
  await ask("ann@example.com", { key: "one" });
  expect((await ask("bo@example.com")).statusCode).toBe(200);
  expect((await ask("cy@example.com")).statusCode).toBe(429);

  const { data } = await ask("ann@example.com", { key: "one" });

  expect(data).toMatchObject({ job_id: first.data.job_id, idempotent_replay: true });
});

test("a verification that the account cannot pay does not count towards the daily limit", async () => {
  const { ask } = await givenForm({ balance: 1, limit: 2 });
  expect((await ask("ann@example.com")).statusCode).toBe(200);

  const statuses = [];
  for (const name of ["a", "b", "c"]) statuses.push((await ask(`${name}@example.com`)).statusCode);

  expect(statuses).toEqual([402, 402, 402]);
});

test("a form answers 402 and nothing_charged when the daily count cannot be decreased", async () => {
  const { publicKey, ...ctx } = await givenForm({ balance: 0 });
  const world = withTable(ctx, {
    write: (write) =>
      "update" in write && write.add?.["n"] === -1 ? rejectDown() : ctx.table.write(write),
  });

  const { statusCode, error } = await send(world, ROUTE, {
    key: publicKey,
    body: { email: "ann@example.com" },
    headers: { origin: ORIGIN },
  });

  expect([statusCode, error.money]).toEqual([402, "nothing_charged"]);
});
