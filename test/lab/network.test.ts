import { allDomains } from "@mailproof/lab/domains";
import type { RecipientRequest } from "@mailproof/lab/host-behavior";
import { buildNetwork } from "@mailproof/lab/network";
import { describe, expect, test } from "vitest";

const plan = { zoneName: "lab.example", domains: allDomains, companies: 200 };

const createRequest = (local: string, domain: string): RecipientRequest => ({
  local,
  domain: `${domain}.lab.example`,
  nth: 1,
  earlier: [],
  waitedMs: () => 0,
});

describe("with addresses to choose from", () => {
  const { hosts } = buildNetwork({ ...plan, ownAddresses: true });

  test("no two hosts share one, and none has the machine's own", () => {
    const addresses = hosts.map(({ address }) => address);

    expect(new Set(addresses).size).toBe(addresses.length);
    expect(addresses.filter((address) => !/^127\.77\.\d+\.\d+$/.test(address))).toEqual([]);
  });

  test("companies share few hosts, and some have their own", () => {
    const names = hosts.map(({ name }) => name);

    expect(names).toContain("mx1.bighost.lab.example");
    expect(names.filter((name) => /^mx\.c\d+\.companies/.test(name)).length).toBeGreaterThan(5);
    expect(names.filter((name) => /host/.test(name)).length).toBeLessThan(60);
  });
});

describe("with one address for all", () => {
  const { hosts, zone } = buildNetwork({ ...plan, ownAddresses: false });
  const rcpt = hosts[0]?.behavior.rcpt;

  test("one host listens, and every MX leads to it", () => {
    expect(hosts).toHaveLength(1);
    expect(zone["mx.full.lab.example"]).toEqual({ A: ["127.0.0.1"] });
  });

  test.each([
    ["ada.lovelace", "valid", /^250/],
    ["nobody", "valid", /^550/],
    ["ada.lovelace", "full", /^452/],
    ["ada.lovelace", "xn--bcher-kva", /^250/],
    ["ada.lovelace", "c0001.companies", /^550|^250/],
    ["ada.lovelace", "elsewhere", /^554 5\.7\.1/],
  ])("%s@%s is answered by the domain alone", (local, domain, expected) => {
    expect(rcpt?.(createRequest(local, domain))).toMatch(expected);
  });
});
