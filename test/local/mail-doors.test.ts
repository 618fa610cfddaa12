import { readEnvironment } from "@mailproof/local/environment";
import { type Lab, startLab } from "@mailproof/local/lab/lab";
import { openMailDoors } from "@mailproof/local/mail-doors";
import { sqliteTable } from "@mailproof/local/sqlite-table";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const SPAMCOP = "bl.spamcop.net";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ companies: 1 });
});
afterAll(() => lab.close());

const doorsOf = (settings: Readonly<Record<string, string>>, beside: Lab | null = null) => {
  const table = sqliteTable(":memory:", () => new Date());
  const doors = openMailDoors(readEnvironment(settings), table, beside);
  onTestFinished(() => {
    doors.close();
    table.close();
  });
  return doors;
};
const zonesFor = (doors: ReturnType<typeof doorsOf>, domain: string) =>
  doors.names.blocklists.listsFor(domain).map(({ zone }) => zone);

test("beside a lab, its domains are looked for on its own blocklists, and others on the real ones", () => {
  const doors = doorsOf({}, lab);

  expect(zonesFor(doors, "good.senders.lab.mailproof.test")).toEqual([
    "bl.lab.mailproof.test",
    "refusing-bl.lab.mailproof.test",
  ]);
  expect(zonesFor(doors, "example.org")).toContain(SPAMCOP);
  expect(zonesFor(doorsOf({}), "anything.test")).toContain(SPAMCOP);
});

test("an operator names the blocklists, by our id or by their zone", () => {
  const named = doorsOf({ BLOCKLISTS: "spamcop, multi.URIBL.com,bl.example.org" }, lab);

  const [spamcop, uribl, own] = named.names.blocklists.listsFor("good.senders.lab.mailproof.test");

  expect(spamcop).toMatchObject({ id: "spamcop", zone: SPAMCOP });
  expect(uribl).toMatchObject({ id: "uribl", asks: "domain", codes: { kind: "bits" } });
  expect(own).toMatchObject({ id: "bl.example.org", asks: "ip" });
});

test("what opens a list comes from the settings, and without it the list stays shut", () => {
  expect(doorsOf({}).names.blocklists.keys).toEqual({});
  const given = { SPAMHAUS_KEY: "abc123", BARRACUDA_REGISTERED: "yes" };
  expect(Object.keys(doorsOf(given).names.blocklists.keys)).toEqual(["spamhaus", "barracuda"]);
  expect(() => readEnvironment({ SPAMHAUS_KEY: "a.b", BARRACUDA_REGISTERED: "maybe" })).toThrow(
    "SPAMHAUS_KEY must be letters and digits; BARRACUDA_REGISTERED must be yes or no.",
  );
});

test("blocklists are asked through name servers of their own where there are any", async () => {
  const doors = doorsOf({
    DNS_SERVERS: "127.0.0.1:1",
    BLOCKLIST_DNS_SERVERS: lab.dns,
  });

  expect(await doors.names.listDns("A", "2.0.0.127.bl.lab.mailproof.test")).toMatchObject({
    kind: "ok",
  });
  expect(await doors.names.dns("A", "2.0.0.127.bl.lab.mailproof.test")).toEqual({
    kind: "timeout",
  });
  expect(
    await doorsOf({}, lab).names.listDns("A", "2.0.0.127.bl.lab.mailproof.test"),
  ).toMatchObject({
    kind: "ok",
  });
});

test("a laboratory behind the operator's name servers may be asked about all of its domains at once", async () => {
  const { dns } = doorsOf({ DNS_SERVERS: lab.dns, SMTP_ALLOW_PRIVATE: lab.smtpAddresses });
  // More than the ceiling of a stranger's zone lets through before a question counts as unanswered.
  const names = Array.from({ length: 2_000 }, (_, n) => `n${n}.valid.lab.mailproof.test`);

  const outcomes = await Promise.all(names.map((name) => dns("MX", name)));

  expect(outcomes.filter(({ kind }) => kind === "timeout")).toEqual([]);
});
