import { createEngine } from "@mailproof/core/verify/engine";
import { verify } from "@mailproof/core/verify/verify";
import { LAB_ZONE, startLab } from "@mailproof/lab/lab";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";

// Over real sockets, and with a clock that the test moves: a mail server that greylists accepts a person at the second
// attempt, and another process has learnt by then whether it accepts everybody.

const RETRY_MS = 6 * 60_000;
const OPTIONS = { deepVerify: true, includeAi: false, includeEvidence: true };

test.each(["greylist", "greylist451"])(
  "a person at the lab's %s is valid at the second attempt",
  async (name) => {
    let at = Date.now();
    const now = () => new Date(at);
    const lab = await startLab({ companies: 0, now });
    const table = createSqliteTable(":memory:", now);
    const mailPorts = openMailPorts(readEnvironment({}), table, lab);
    const attempt = () =>
      verify(createEngine({ ...mailPorts, now }), `ada.lovelace@${name}.${LAB_ZONE}`, OPTIONS);

    const first = await attempt();
    at += RETRY_MS;
    const second = await attempt();
    mailPorts.close();
    table.close();
    await lab.close();

    expect(first).toMatchObject({ status: "unknown", reason: "greylisted", retry: "later" });
    expect(second).toMatchObject({
      status: "valid",
      reason: "accepted",
      retry: null,
      evidence: { catchAll: "no" },
    });
  },
);
