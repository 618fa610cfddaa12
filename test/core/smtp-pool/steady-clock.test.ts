import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import { verify } from "@mailproof/core/verify/verify";
import { createLists } from "@mailproof/mail/lists/lists";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

const HOUR_MS = 3_600_000;

test.each([12 * 24, -2])(
  "a look-up continues when the clock jumps by %s hours meanwhile",
  async (hours) => {
    const { world, jump } = givenWorld();
    const { table, now, sleep, random } = world;
    let steadyMs = 0;
    const engine = createEngine({
      table,
      now,
      sleep,
      random,
      steadyNow: () => new Date(steadyMs++),
      lists: createLists(),
      allowed: [],
      slots: createLocalSlots({ now }),
      smtp: { helo: "x.example", from: "a@x.example", port: 25 },
      connect: async () => "connect_refused",
      dns: async (type) => {
        jump(hours * HOUR_MS);
        const records: readonly unknown[] =
          type === "MX" ? [{ priority: 1, exchange: "mx.example.org" }] : ["198.51.99.1"];
        return { kind: "ok", records } as never;
      },
    });
    const options = { deepVerify: false, includeAi: false, includeEvidence: false };

    const result = await verify(engine, "ann@example.org", options);

    expect(result.verification.mxFound).toBe(true);
  },
);
