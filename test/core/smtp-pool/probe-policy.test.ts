import { DAILY_LIMITS } from "@mailproof/core/smtp-pool/daily-limits";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { createEngine, type Engine } from "@mailproof/core/verify/engine";
import { verify } from "@mailproof/core/verify/verify";
import { readEnvironment } from "@mailproof/local/environment";
import type { Dns } from "@mailproof/mail/dns/dns";
import { createLists } from "@mailproof/mail/lists/lists";
import { parseProbePolicy } from "@mailproof/mail/probe-policy";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

const MAIL_HOSTS: Readonly<Record<string, readonly string[]>> = {
  "gmail.com": ["gmail-smtp-in.l.google.com"],
  "firm.example": ["aspmx.l.google.com"],
  "outlook.com": ["outlook-com.olc.protection.outlook.com"],
  "mixed.example": ["mx.mixed.example", "mixed-example.mail.protection.outlook.com"],
  "shop.example": ["mx.shop.example"],
};

const dns = (async (type: string, name: string) => {
  if (type === "MX") {
    const hosts = MAIL_HOSTS[name] ?? [];
    return { kind: "ok", records: hosts.map((exchange, priority) => ({ priority, exchange })) };
  }
  return type === "A" ? { kind: "ok", records: ["8.8.4.4"] } : { kind: "nodata" };
}) as unknown as Dns;

/** Processes of one service, with a policy of the operator's. Every server accepts every recipient. */
const givenPolicy = (text: string, processes = 1, random?: () => number) => {
  const given = givenWorld();
  const world = { ...given.world, ...(random && { random }) };
  const asked: string[] = [];
  let open = 0;
  let peak = 0;
  const connect: SmtpConnect = async ({ host }) => {
    peak = Math.max(peak, ++open);
    let isOpen = true;
    let next = "220 hello";
    return {
      send: (line) => {
        if (line.startsWith("RCPT")) asked.push(`${host} ${line}`);
        next = "250 ok";
      },
      receive: async () => {
        await world.sleep(20);
        return createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed";
      },
      startTls: async () => "tls_failed",
      close: async () => {
        if (isOpen) open--;
        isOpen = false;
      },
    };
  };
  const { PROBE_POLICY } = readEnvironment({ PROBE_POLICY: text });
  const engines = Array.from({ length: processes }, () =>
    createEngine({
      ...world,
      dns,
      connect,
      lists: createLists(),
      allowed: [],
      probePolicy: PROBE_POLICY,
      smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
      slots: createSharedSlots(world),
    }),
  );
  return { engines, asked, world, getPeak: () => peak };
};

const whenVerified = (engine: Engine | undefined, email: string, account = "acc_1") => {
  if (!engine) throw new Error("there is no such process");
  return verify(engine, email, {
    deepVerify: true,
    includeAi: true,
    includeEvidence: true,
    requester: { account, priority: "caller" },
  });
};

test.each([
  ["gogle=never", "PROBE_POLICY names gogle, which is not a mail provider"],
  ["other=never", "PROBE_POLICY names other, which is not a mail provider"],
  ["google=maybe", "PROBE_POLICY has google=maybe: must be one of yes, careful, never"],
  ["google", "PROBE_POLICY has google: must be a list such as google=careful"],
  ["google=yes=never", "PROBE_POLICY has google=yes=never: must be a list"],
  ["google=yes, google=never", "PROBE_POLICY names google twice"],
])("the start fails with an error about a wrong probe policy: %s", (text, sentence) => {
  expect(() => readEnvironment({ PROBE_POLICY: text })).toThrow(sentence);
});

test("the parser ignores blanks and empty parts of a probe policy", () => {
  expect(parseProbePolicy(" google = careful ,, yahoo=never,")).toEqual(
    new Map([
      ["google", "careful"],
      ["yahoo", "never"],
    ]),
  );
});

test.each([
  "ann@outlook.com",
  // One of the domain's hosts belongs to a provider that is excluded.
  "ann@mixed.example",
])(
  "an address under the policy never (%s) becomes unknown, and the engine contacts no mail host of its domain",
  async (email) => {
    const { engines, asked } = givenPolicy("microsoft_consumer=never,microsoft=never");

    const result = await whenVerified(engines[0], email);
    const other = await whenVerified(engines[0], "ann@shop.example");

    expect(result).toMatchObject({ status: "unknown", reason: "probe_policy", retry: null });
    expect(other).toMatchObject({ status: "catch_all" });
    expect(asked.filter((line) => !line.startsWith("mx.shop.example "))).toEqual([]);
  },
);

test("the policy careful asks about no random recipient and no canary", async () => {
  // The least chance there is: with yes, every recipient would bring a canary.
  const { engines, asked } = givenPolicy("google=careful", 1, () => 0);
  await whenVerified(engines[0], "ann@gmail.com");

  const probed = givenPolicy("google=yes", 1, () => 0);
  await whenVerified(probed.engines[0], "ann@gmail.com");
  expect(probed.asked).toHaveLength(2);

  const firm = await whenVerified(engines[0], "ann@firm.example");
  await whenVerified(engines[0], "ann@shop.example");

  expect(firm).toMatchObject({ status: "risky", reason: "catch_all_unverified" });
  const random = asked.filter((line) => !line.includes("<ann"));
  expect(random.map((line) => line.split(" ")[0])).toEqual(["mx.shop.example"]);
});

test("three processes open one session with a provider under the policy careful, and several under yes", async () => {
  const peaks = ["google=careful", "google=yes"].map(async (policy) => {
    const { engines, getPeak } = givenPolicy(policy, 3);
    await Promise.all(
      engines.flatMap((engine, process) =>
        Array.from({ length: 12 }, (_, n) => whenVerified(engine, `ann${process}.${n}@gmail.com`)),
      ),
    );
    return getPeak();
  });

  const [careful, yes] = await Promise.all(peaks);

  expect(careful).toBe(1);
  expect(yes).toBeGreaterThanOrEqual(3);
});

test("a provider under the policy careful gets a tenth of a mail host's daily limit", async () => {
  // Counts are added in steps, rounded by chance: here always up.
  const { engines, world } = givenPolicy("google=careful", 1, () => 0.999_9);
  const day = world.now().toISOString().slice(0, 10);
  const recipients = DAILY_LIMITS.host.recipients / 10 - 1;
  await world.table.write({ put: { pk: "ASKED#PROVIDER#google", sk: day, recipients } });

  const first = await whenVerified(engines[0], "ann@gmail.com");
  const second = await whenVerified(engines[0], "bo@gmail.com");

  expect([first.reason, second.reason]).toEqual(["accepted", "host_daily_limit"]);
});
