import { rejectPrivateResolver } from "@mailproof/mail/dns/reject-private-resolver";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../zone.ts";

const givenResolver = (names: Zone) => {
  const inner = createZoneDns({ "mail.corp": { MX: ["10 mx.mail.corp"] }, ...names });
  return { dns: rejectPrivateResolver(inner, () => new Date(0)), calls: inner.calls };
};

test("a domain that the internet denies does not exist", async () => {
  const { dns } = givenResolver({ com: { NS: ["a.gtld-servers.net"] } });

  expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
  expect(await dns("MX", "mail.corp")).toMatchObject({ kind: "ok" });
});

test("a resolver that denies com is believed what it has, and nothing that it has not", async () => {
  const { dns } = givenResolver({});

  expect(await dns("MX", "gmail.com")).toEqual({ kind: "refused" });
  expect(await dns("MX", "mail.corp")).toMatchObject({ kind: "ok" });
});

test.each(["SERVFAIL", "REFUSED", "TIMEOUT"] as const)(
  "one that answers %s for com denies nothing, and is believed",
  async (fault) => {
    const { dns } = givenResolver({ com: fault });

    expect(await dns("MX", "nobody.corp")).toEqual({ kind: "nxdomain" });
  },
);

test("a reserved name that cannot be registered does not exist, whatever a resolver says", async () => {
  const { dns } = givenResolver({});

  expect(await dns("MX", "nowhere.invalid")).toEqual({ kind: "nxdomain" });
});

test("com is asked for once, however many names are denied", async () => {
  const { dns, calls } = givenResolver({});

  for (const name of ["a.test", "b.test", "c.test"]) await dns("MX", name);

  expect(calls.filter((call) => call === "NS com")).toHaveLength(1);
});
