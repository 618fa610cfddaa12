import { checkControl } from "@mailproof/core/control/check-control";
import { createLabToken } from "@mailproof/lab/issuer-tokens";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/lab/lab";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { readAddress } from "@mailproof/mail/address-cell";
import { sleep } from "@mailproof/net/sleep";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const SPAMCOP = "bl.spamcop.net";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ companies: 1 });
});
afterAll(() => lab.close());

const openPorts = (settings: Readonly<Record<string, string>>, beside: Lab | null = null) => {
  const table = createSqliteTable(":memory:", () => new Date());
  const mailPorts = openMailPorts(readEnvironment(settings), table, beside);
  onTestFinished(() => {
    mailPorts.close();
    table.close();
  });
  return mailPorts;
};
const zonesFor = (mailPorts: ReturnType<typeof openPorts>, domain: string) =>
  mailPorts.dnsLookups.blocklists.listsFor(domain).map(({ zone }) => zone);

test("the service asks a lab's own blocklists about its domains, and the real ones about others", () => {
  const mailPorts = openPorts({}, lab);

  expect(zonesFor(mailPorts, "good.senders.lab.mailproof.test")).toEqual([
    "bl.lab.mailproof.test",
    "refusing-bl.lab.mailproof.test",
  ]);
  expect(zonesFor(mailPorts, "example.org")).toContain(SPAMCOP);
  expect(zonesFor(openPorts({}), "anything.test")).toContain(SPAMCOP);
});

test("a lab's issuer signs for its addresses, and its token proves control", async () => {
  const { issuers, now } = openPorts({}, lab);
  const email = "ada.lovelace@valid.lab.mailproof.test";
  const about = { nonce: "n", origin: "http://localhost:3000" };
  const check = async (token: string) =>
    checkControl(
      { issuers, now, sleep },
      { ...about, token, address: readAddress(email).address, mode: "live", waitMs: 10_000 },
    );
  const make = (of: string) => createLabToken(LAB_ZONE, { ...about, email: of, at: now() });

  expect(await check(await make(email))).toMatchObject({
    status: "controlled",
    issuer: "issuer.lab.mailproof.test",
  });
  expect(await check(await make("bob@valid.lab.mailproof.test"))).toEqual({
    status: "address_mismatch",
  });
});

test("the service does not call an issuer inside an address block that is open only for webhooks", async () => {
  const { issuers, dnsLookups } = openPorts({ OUTBOUND_ALLOW_PRIVATE: "127.0.0.0/8" });
  // Nothing listens there: what is let through is not answered.
  const url = "https://127.0.0.1/.well-known/email-verification";

  expect(await issuers.fetchDocument(url)).toEqual({ kind: "failed", why: "private_address" });
  expect(await dnsLookups.fetchDocument?.(url)).toEqual({ kind: "failed", why: "connect_refused" });
});

test("the setting BLOCKLISTS accepts our ids and zones", () => {
  const named = openPorts({ BLOCKLISTS: "spamcop, multi.URIBL.com,bl.example.org" }, lab);

  const [spamcop, uribl, own] = named.dnsLookups.blocklists.listsFor(
    "good.senders.lab.mailproof.test",
  );

  expect(spamcop).toMatchObject({ id: "spamcop", zone: SPAMCOP });
  expect(uribl).toMatchObject({ id: "uribl", asks: "domain", codes: { kind: "bits" } });
  expect(own).toMatchObject({ id: "bl.example.org", asks: "ip" });
});

test("the service asks a blocklist with a credential only when its setting is present", () => {
  expect(openPorts({}).dnsLookups.blocklists.keys).toEqual({});
  const given = { SPAMHAUS_KEY: "abc123", BARRACUDA_REGISTERED: "yes" };
  expect(Object.keys(openPorts(given).dnsLookups.blocklists.keys)).toEqual([
    "spamhaus",
    "barracuda",
  ]);
  expect(() => readEnvironment({ SPAMHAUS_KEY: "a.b", BARRACUDA_REGISTERED: "maybe" })).toThrow(
    "SPAMHAUS_KEY must be letters and digits; BARRACUDA_REGISTERED must be yes or no.",
  );
});

test("the service asks blocklists through their own name servers when these are set", async () => {
  const mailPorts = openPorts({
    DNS_SERVERS: "127.0.0.1:1",
    BLOCKLIST_DNS_SERVERS: lab.dns,
  });

  expect(await mailPorts.dnsLookups.listDns("A", "2.0.0.127.bl.lab.mailproof.test")).toMatchObject({
    kind: "ok",
  });
  expect(await mailPorts.dnsLookups.dns("A", "2.0.0.127.bl.lab.mailproof.test")).toEqual({
    kind: "internal",
  });
  expect(
    await openPorts({}, lab).dnsLookups.listDns("A", "2.0.0.127.bl.lab.mailproof.test"),
  ).toMatchObject({
    kind: "ok",
  });
});

test("a lab behind the operator's name servers answers about all of its domains at once", async () => {
  const { dns } = openPorts({ DNS_SERVERS: lab.dns, SMTP_ALLOW_PRIVATE: lab.smtpAddresses });
  // More than the limit for another domain's zone lets through before a question counts as unanswered.
  const names = Array.from({ length: 2_000 }, (_, n) => `n${n}.valid.lab.mailproof.test`);

  const outcomes = await Promise.all(names.map((name) => dns("MX", name)));

  expect(outcomes.filter(({ kind }) => kind === "timeout")).toEqual([]);
});
