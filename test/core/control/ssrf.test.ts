import { checkControl } from "@mailproof/core/control/check-control";
import { createIssuers } from "@mailproof/core/control/issuers";
import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import { HTTPS_PORT } from "@mailproof/core/ports/https";
import { readAddress } from "@mailproof/mail/address-cell";
import { createHttpsClient } from "@mailproof/net/https";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { createZoneDns, type Records } from "../../app/zone.ts";
import { EMAIL, givenIssuer, ISSUER, METADATA, NONCE, ORIGIN } from "../../things/control.ts";

// Goal: no issuer that a domain names makes us connect to anything but the open internet.
// Method: the real client and its guard. What it would connect to refuses, so a connection shows as issuer_unreachable.

const PRIVATE: readonly (readonly [string, Records])[] = [
  ["loopback", { A: ["127.0.0.1"] }],
  ["the rest of loopback", { A: ["127.8.9.10"] }],
  ["loopback of IPv6", { AAAA: ["::1"] }],
  ["loopback mapped into IPv6", { AAAA: ["::ffff:127.0.0.1"] }],
  ["loopback behind NAT64", { AAAA: ["64:ff9b::7f00:1"] }],
  ["loopback behind 6to4", { AAAA: ["2002:7f00:1::"] }],
  ["nothing", { A: ["0.0.0.0"] }],
  ["nothing of IPv6", { AAAA: ["::"] }],
  ["a private network", { A: ["10.0.0.1"] }],
  ["another", { A: ["172.16.0.1"] }],
  ["a third", { A: ["192.168.0.1"] }],
  ["a private network of IPv6", { AAAA: ["fd00::1"] }],
  ["a cloud's metadata", { A: ["169.254.169.254"] }],
  ["a cloud's metadata over IPv6", { AAAA: ["fd00:ec2::254"] }],
  ["a link", { AAAA: ["fe80::1"] }],
  ["a carrier's network", { A: ["100.100.100.200"] }],
  ["Azure's platform", { A: ["168.63.129.16"] }],
  ["multicast", { A: ["224.0.0.1"] }],
  ["broadcast", { A: ["255.255.255.255"] }],
  ["documentation", { A: ["192.0.2.1"] }],
  ["a good and a bad address", { A: ["8.8.8.8", "127.0.0.1"] }],
  ["a good and a bad one of two kinds", { A: ["8.8.8.8"], AAAA: ["::1"] }],
  ["an alias of a private name", { CNAME: ["inside.example"] }],
];

const inside = { "inside.example": { A: ["10.1.2.3"] } };

const givenClient = (host: string, records: Records) => {
  const dns = createZoneDns({ ...inside, [host]: records });
  return createHttpsClient({ dns, port: HTTPS_PORT, allowed: [] });
};

const ask = async (
  ctx: Awaited<ReturnType<typeof givenIssuer>>,
  https: Parameters<typeof createDocumentFetcher>[0],
) => {
  const { dns } = ctx.world.issuers;
  const fetchDocument = createDocumentFetcher(https);
  const issuers = createIssuers({ dns, fetchDocument, now: ctx.world.now });
  return checkControl(
    { ...ctx.world, issuers },
    {
      token: await ctx.present(),
      nonce: NONCE,
      origin: ORIGIN,
      address: readAddress(EMAIL).address,
      mode: "live",
      waitMs: 10_000,
    },
  );
};

test.each(PRIVATE)("an issuer's host at %s is not called", async (_, records) => {
  const ctx = await givenIssuer(givenWorld().world);

  expect(await ask(ctx, givenClient(ISSUER, records))).toEqual({
    status: "issuer_not_public",
  });
});

test.each(PRIVATE)("the host of an issuer's keys at %s is not called", async (_, records) => {
  const ctx = await givenIssuer(givenWorld().world);
  const host = `keys.${ISSUER}`;
  const client = givenClient(host, records);
  const metadata = JSON.stringify({ ...METADATA, jwks_uri: `https://${host}/` });
  const called: string[] = [];

  expect(
    await ask(ctx, {
      call: async (request) => {
        called.push(request.url);
        return request.url.startsWith(`https://${host}/`)
          ? client.call(request)
          : {
              kind: "answer",
              status: 200,
              contentType: "",
              retryAfter: null,
              body: metadata,
              isComplete: true,
            };
      },
    }),
  ).toEqual({ status: "issuer_not_public" });
  expect(called).toHaveLength(2);
});

test.each(["localhost", "a.localhost", "127.0.0.1", "[::1]", "0x7f.1", "2130706433", "127.1"])(
  "a domain cannot name %s as its issuer",
  async (host) => {
    const zone = { "_email-verification.example.com": { TXT: [`iss=${host}`] } };
    const ctx = await givenIssuer(givenWorld().world, { zone });
    const client = givenClient("other.example", {});
    const token = await ctx.present({ issuedClaims: { iss: host } });
    const result = await ask({ ...ctx, present: async () => token }, client);

    expect(["malformed", "issuer_not_public"]).toContain(result.status);
  },
);
