import type { Dns } from "@mailproof/mail/dns/dns";
import { expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { given } from "../app/given.ts";
import { listMoves } from "../app/ledger.ts";
import { send, whenChecked } from "../app/send.ts";
import { createZoneDns } from "../app/zone.ts";

/** A domain of which some questions are not answered, in time or at all, and the rest is not there. */
const failing =
  (...types: readonly string[]): Dns =>
  (type, name) =>
    types.includes(`${type} ${name}`)
      ? Promise.resolve({ kind: "timeout" })
      : createZoneDns({ "example.com": { NS: ["ns1.example.com", "ns2.example.com"] } })(
          type,
          name,
        );

const MX = "MX example.com";
const SPF = "TXT example.com";
const DMARC = "TXT _dmarc.example.com";

const setup = async (...types: readonly string[]) => {
  const ctx = await given({ balance: 20 });
  return { ...ctx, world: withDnsLookups(ctx.world, failing(...types)) };
};

test("where MX and SPF could not be looked up the grade is of low confidence, and nothing is recommended about them", async () => {
  const ctx = await setup(MX, SPF, "A example.com.bl.test");
  const { data } = await whenChecked(ctx.world, ctx.liveKey);

  expect(data).toMatchObject({
    score: 0,
    grade: "F",
    confidence: "low",
    missing_parts: ["dns", "spf", "reputation"],
    dns: { status: "error" },
    authentication: { spf: { status: "error" } },
  });
  expect(data.recommendations.map(({ id }: { id: string }) => id)).toEqual([
    "add_dkim",
    "add_dmarc",
    "bimi",
  ]);
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("where less than half of the weight is missing the confidence is medium", async () => {
  const { world, liveKey } = await setup(DMARC);
  const { data } = await whenChecked(world, liveKey);

  expect(data).toMatchObject({
    confidence: "medium",
    missing_parts: expect.arrayContaining(["dmarc"]),
  });
  const ids = data.recommendations.map(({ id }: { id: string }) => id);
  expect(ids).toContain("add_spf");
  expect(ids.filter((id: string) => /dmarc|bimi/.test(id))).toEqual([]);
});

test("where every part is answered the confidence is high and nothing is missing", async () => {
  const { world, testKey } = await given();
  const plain = await whenChecked(world, testKey);
  const withIp = await whenChecked(world, testKey, {
    domain: "weak.com",
    sending_ip: "192.0.2.1",
  });

  for (const { data } of [plain, withIp])
    expect(data).toMatchObject({ confidence: "high", missing_parts: [] });
});

test("the history, a check that is read and a monitor say the same confidence", async () => {
  const { world, liveKey: key } = await setup(MX, SPF, "A example.com.bl.test");
  const { data } = await whenChecked(world, key);
  const read = await send(world, `GET /v1/deliverability/checks/${data.check_id}`, { key });
  const list = await send(world, "GET /v1/deliverability/checks", { key });

  expect(read.data).toMatchObject({ confidence: "low", missing_parts: data.missing_parts });
  expect(list.data.checks[0]).toMatchObject({ grade: "F", confidence: "low" });
});
