import { describeReach } from "@mailproof/core/egress/describe-reach";
import { attributeDnsFaults } from "@mailproof/core/egress/own-faults";
import { findReach, judgeReach, REACHES, storeReach } from "@mailproof/core/egress/reach";
import { expect, test } from "vitest";
import { given, givenWorld } from "../../app/given.ts";
import { send } from "../../app/send.ts";
import { createZoneDns, type Zone } from "../../app/zone.ts";

const INTERNET: Zone = { com: { NS: ["a.gtld-servers.net"] } };
const FAULTS = ["SERVFAIL", "REFUSED", "TIMEOUT"] as const;

const givenResolver = (names: Zone, trustsDenials = false) => {
  const { world } = givenWorld();
  const inner = createZoneDns({ "mail.corp": { MX: ["10 mx.mail.corp"] }, ...names });
  return { world, dns: attributeDnsFaults(inner, { ...world, trustsDenials }), calls: inner.calls };
};

test("a domain does not exist when the internet denies it", async () => {
  const { dns } = givenResolver(INTERNET);

  expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
  expect(await dns("MX", "mail.corp")).toMatchObject({ kind: "ok" });
});

test("the engine trusts the positive answers, and no denial, of a resolver that denies com", async () => {
  const { dns } = givenResolver({ "b.corp": "SERVFAIL" });

  expect(await dns("MX", "gmail.com")).toEqual({ kind: "internal" });
  expect(await dns("MX", "b.corp")).toEqual({ kind: "internal" });
  expect(await dns("MX", "mail.corp")).toMatchObject({ kind: "ok" });
});

test("an operator's own resolver may deny com: its denials and faults count as the zone's", async () => {
  const { dns } = givenResolver({ "b.corp": "SERVFAIL" }, true);

  expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
  expect(await dns("MX", "b.corp")).toEqual({ kind: "servfail" });
});

test.each(FAULTS)(
  "%s counts as the domain's fault when the resolver answers for com",
  async (fault) => {
    const { dns } = givenResolver({ ...INTERNET, "b.corp": fault });

    expect(await dns("MX", "b.corp")).toEqual({ kind: fault.toLowerCase() });
  },
);

test.each(FAULTS)(
  "%s counts as our fault when com fails, too, and denials stay valid",
  async (fault) => {
    const { dns } = givenResolver({ com: fault, "b.corp": fault });

    expect(await dns("MX", "b.corp")).toEqual({ kind: "internal" });
    expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
  },
);

test.each(["lab", "dns_only", "open"] as const)(
  "the engine judges a DNS fault by the measured reach of the internet: %s",
  async (reach) => {
    const { world, dns } = givenResolver({ ...INTERNET, "b.corp": "SERVFAIL" });
    await storeReach(world, reach);

    expect(await dns("MX", "b.corp")).toEqual({
      kind: reach === "open" ? "servfail" : "internal",
    });
  },
);

test("the engine answers NXDOMAIN for a reserved name that cannot be registered", async () => {
  const { dns } = givenResolver({});

  expect(await dns("MX", "nowhere.invalid")).toEqual({ kind: "nxdomain" });
});

test("the engine asks for com once a second, however many names a resolver denies", async () => {
  const { dns, calls } = givenResolver({});

  for (const name of ["a.test", "b.test", "c.test"]) await dns("MX", name);

  expect(calls.filter((call) => call === "NS com")).toHaveLength(1);
});

const visit = (isResolved: boolean, isOpen: boolean) => ({ isResolved, isOpen });

test.each([
  ["open", [visit(true, false), visit(true, true)]],
  ["dns_only", [visit(true, false), visit(false, false)]],
  ["lab", [visit(false, false)]],
])("the visits of known hosts prove the reach %s", (reach, visits) => {
  expect(judgeReach(visits)).toBe(reach);
});

test("the health and the account show the measured reach until the next measurement", async () => {
  const { world, liveKey, later } = await given();
  const before = await findReach(world);
  await storeReach(world, "dns_only");
  later(3_600_000);
  await storeReach(world, "open");

  const health = await send(world, "GET /health", {});
  const account = await send(world, "GET /v1/account", { key: liveKey });

  const message = "Mail servers can be asked.";
  const reach = {
    state: "open",
    message,
    refused_by: [],
    measured_at: "2026-11-21T01:00:00.000Z",
  };
  expect(before).toEqual({ state: "not_measured", refusedBy: [], measuredAt: null });
  expect((health as any).reach).toEqual(reach);
  expect(account.data.reach).toEqual(reach);
});

test("the service describes each reach in a sentence with its cost for unknown results", () => {
  const sentences = REACHES.map((state) => describeReach({ state, refusedBy: ["google"] }));

  expect(new Set(sentences).size).toBe(REACHES.length);
  expect(describeReach({ state: "dns_only", refusedBy: [] })).toContain("which costs nothing");
  expect(describeReach({ state: "refused_by", refusedBy: ["google"] })).toContain("google refuse");
});
