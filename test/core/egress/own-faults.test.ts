import { attributeDnsFaults } from "@mailproof/core/egress/own-faults";
import { storeReach } from "@mailproof/core/egress/reach";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { createZoneDns, type Zone } from "../../app/zone.ts";

const INTERNET: Zone = { com: { NS: ["a.gtld-servers.net"] } };
const FAULTS = ["SERVFAIL", "REFUSED", "TIMEOUT"] as const;

const givenResolver = (names: Zone, trustsDenials = false) => {
  const { world } = givenWorld();
  const inner = createZoneDns({ "mail.corp": { MX: ["10 mx.mail.corp"] }, ...names });
  return { world, dns: attributeDnsFaults(inner, { ...world, trustsDenials }), calls: inner.calls };
};

test("a domain that the internet denies does not exist", async () => {
  const { dns } = givenResolver(INTERNET);

  expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
  expect(await dns("MX", "mail.corp")).toMatchObject({ kind: "ok" });
});

test("a resolver that denies com is believed what it has, and nothing that it has not", async () => {
  const { dns } = givenResolver({ "b.corp": "SERVFAIL" });

  expect(await dns("MX", "gmail.com")).toEqual({ kind: "internal" });
  expect(await dns("MX", "b.corp")).toEqual({ kind: "internal" });
  expect(await dns("MX", "mail.corp")).toMatchObject({ kind: "ok" });
});

test("an operator's own resolver may deny com: its denials and its faults are the zone's", async () => {
  const { dns } = givenResolver({ "b.corp": "SERVFAIL" }, true);

  expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
  expect(await dns("MX", "b.corp")).toEqual({ kind: "servfail" });
});

test.each(FAULTS)("%s is the domain's fault where the resolver answers for com", async (fault) => {
  const { dns } = givenResolver({ ...INTERNET, "b.corp": fault });

  expect(await dns("MX", "b.corp")).toEqual({ kind: fault.toLowerCase() });
});

test.each(FAULTS)("%s is ours where com has a fault, too; denials are believed", async (fault) => {
  const { dns } = givenResolver({ com: fault, "b.corp": fault });

  expect(await dns("MX", "b.corp")).toEqual({ kind: "internal" });
  expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
});

test.each(["lab", "dns_only", "open"] as const)(
  "a fault while the measured reach is %s",
  async (reach) => {
    const { world, dns } = givenResolver({ ...INTERNET, "b.corp": "SERVFAIL" });
    await storeReach(world, reach);

    expect(await dns("MX", "b.corp")).toEqual({
      kind: reach === "open" ? "servfail" : "internal",
    });
  },
);

test("a reserved name that cannot be registered does not exist, whatever a resolver says", async () => {
  const { dns } = givenResolver({});

  expect(await dns("MX", "nowhere.invalid")).toEqual({ kind: "nxdomain" });
});

test("com is asked for once in a second, however many names are denied", async () => {
  const { dns, calls } = givenResolver({});

  for (const name of ["a.test", "b.test", "c.test"]) await dns("MX", name);

  expect(calls.filter((call) => call === "NS com")).toHaveLength(1);
});
