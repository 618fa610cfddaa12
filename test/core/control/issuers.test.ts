import { checkControl } from "@mailproof/core/control/check-control";
import { createIssuers } from "@mailproof/core/control/issuers";
import { toPublicJwk } from "@mailproof/lab/issuer";
import { createSigningKey } from "@mailproof/lab/issuer-tokens";
import { readAddress } from "@mailproof/mail/address-cell";
import type { FetchedDocument } from "@mailproof/mail/hints/fetched-document";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { createZoneDns } from "../../app/zone.ts";
import { EMAIL, givenIssuer, KEYS_URL, NONCE, ORIGIN } from "../../things/control.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const givenDocument = (document: Partial<FetchedDocument>) => {
  const { later, world } = givenWorld();
  let fetches = 0;
  const issuers = createIssuers({
    dns: createZoneDns({}),
    now: world.now,
    fetchDocument: async () => {
      fetches += 1;
      return {
        kind: "answer",
        status: 200,
        contentType: "",
        body: "{}",
        isComplete: true,
        ...document,
      } as FetchedDocument;
    },
  });
  return { issuers, later, countFetches: () => fetches };
};

test.each<[lifeMs: number, Partial<FetchedDocument>]>([
  [MINUTE_MS, {}],
  [MINUTE_MS, { cacheControl: "max-age=5" }],
  [MINUTE_MS, { cacheControl: "no-store" }],
  [MINUTE_MS, { cacheControl: "no-cache, max-age=3600" }],
  [MINUTE_MS, { cacheControl: "s-maxage=3600" }],
  [MINUTE_MS, { cacheControl: "max-age=3600", status: 503 }],
  [MINUTE_MS, { cacheControl: "max-age=3600", isComplete: false }],
  [MINUTE_MS, { kind: "failed", why: "timeout" }],
  [60 * MINUTE_MS, { cacheControl: "public, max-age=3600, must-revalidate" }],
  [60 * MINUTE_MS, { cacheControl: 'Max-Age="3600"' }],
  [DAY_MS, { cacheControl: "max-age=999999999" }],
])("a document is kept for %i ms: %j", async (lifeMs, document) => {
  const { issuers, later, countFetches } = givenDocument(document);
  await issuers.fetchDocument("https://issuer.example/");
  later(lifeMs - 1);
  await issuers.fetchDocument("https://issuer.example/");
  expect(countFetches()).toBe(1);
  later(1);
  await issuers.fetchDocument("https://issuer.example/");
  expect(countFetches()).toBe(2);
});

test("many callers wait for one fetch", async () => {
  const { issuers, countFetches } = givenDocument({});
  await Promise.all(
    Array.from({ length: 50 }, () => issuers.fetchDocument("https://issuer.example/")),
  );

  expect(countFetches()).toBe(1);
});

test("an issuer's new key is fetched, though its old ones are cached, and at most once a minute", async () => {
  const { world, later } = givenWorld();
  const ctx = await givenIssuer(world);
  const ask = async (token: Promise<string>) =>
    (
      await checkControl(ctx.world, {
        token: await token,
        nonce: NONCE,
        origin: ORIGIN,
        address: readAddress(EMAIL).address,
        mode: "live",
        waitMs: 10_000,
      })
    ).status;
  ctx.serve(KEYS_URL, { keys: [toPublicJwk(ctx.issuerKey)] }, { cacheControl: "max-age=86400" });
  expect(await ask(ctx.present())).toBe("controlled");

  const made = await createSigningKey("Ed25519");
  const issuerKey = { ...made, jwk: { ...made.jwk, kid: "k2" } };
  const present = () => ctx.present({}, { issuerKey });
  expect(await ask(present())).toBe("key_not_found");
  ctx.serve(KEYS_URL, { keys: [toPublicJwk(issuerKey)] }, { cacheControl: "max-age=86400" });
  later(MINUTE_MS);
  expect(await ask(present())).toBe("key_not_found");
  later(1);
  expect(await ask(present())).toBe("controlled");

  expect(ctx.asked.urls.filter((url) => url === KEYS_URL)).toHaveLength(2);
});
