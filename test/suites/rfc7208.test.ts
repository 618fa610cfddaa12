import { readFileSync } from "node:fs";
import type { Dns } from "@mailproof/core/mail/dns/dns";
import { evaluateSpf } from "@mailproof/core/mail/spf/evaluate";
import { resolverPool } from "@mailproof/net/dns";
import { askRaw } from "@mailproof/net/raw-dns";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../available.ts";
import { serveZone } from "../dns-server.ts";
import { zone } from "../zone.ts";
import { type Case, type Document, zoneOf } from "./rfc7208-zone.ts";

const SUITE = "../shared/data/spf/rfc7208-tests.json";
const CASES = 203;

/** The suite's word for an explanation that is the receiver's own; ours has none then. */
const DEFAULT = "DEFAULT";

const whenChecked = async (dns: Dns, { host, helo, mailfrom }: Case) => {
  const domain = mailfrom.slice(mailfrom.lastIndexOf("@") + 1) || helo;
  const evaluation = await evaluateSpf(dns, { ip: host, domain, sender: mailfrom, helo });
  return { result: evaluation.result, explanation: evaluation.explanation ?? DEFAULT };
};

const expectedOf = ({ result, explanation }: Case) => ({
  result: expect.toBeOneOf([result].flat()),
  ...(explanation !== undefined && { explanation }),
});

describeWith(SUITE, "the RFC 7208 test suite", () => {
  const documents = JSON.parse(readFileSync(SUITE, "utf8")) as readonly Document[];

  test(`has all ${CASES} cases`, () => {
    expect(documents.flatMap(({ tests }) => Object.keys(tests))).toHaveLength(CASES);
  });

  describe.each(documents)("in memory: $description", ({ tests, zonedata }) => {
    test.each(Object.entries(tests))("%s", async (_, one) => {
      const found = await whenChecked(zone(zoneOf(zonedata, "TIMEOUT")), one);

      expect(found).toMatchObject(expectedOf(one));
    });
  });

  // Here a server that is silent says SERVFAIL instead, which comes to the same and takes no seconds.
  test.each(documents)("over real sockets: $description", async ({ tests, zonedata }) => {
    const server = await serveZone(zoneOf(zonedata, "SERVFAIL"));
    const dns = resolverPool({
      servers: [server.address],
      packetsPerSecond: 10_000,
      askOdd: askRaw,
    });
    onTestFinished(async () => {
      dns.close();
      await server.close();
    });
    const cases = Object.entries(tests);

    const found = await Promise.all(
      cases.map(async ([name, one]) => [name, await whenChecked(dns, one)]),
    );

    expect(Object.fromEntries(found)).toMatchObject(
      Object.fromEntries(cases.map(([name, one]) => [name, expectedOf(one)])),
    );
  });
});
