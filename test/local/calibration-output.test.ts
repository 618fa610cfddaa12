import { formatCalibration } from "@mailproof/local/cli/calibration-output";
import { expect, test } from "vitest";

const row = (sent: number, accounts: number) => ({
  provider: "google",
  status: "valid",
  band: 90,
  sent,
  bounced: 1,
  soft: 0,
  accounts,
  share: sent < 30 ? null : 0.01,
  interval: sent < 30 ? null : ([0.002, 0.05] as const),
});

test.each<[number, number, object, readonly string[]]>([
  [29, 5, { note: "too few: below 30 addresses nothing is claimed" }, ["bounce_share", "interval"]],
  [
    100,
    2,
    { bounce_share: 0.01, note: "fewer than 3 accounts: it may be the habit of one sender" },
    [],
  ],
  [100, 3, { bounce_share: 0.01, interval: [0.002, 0.05], score: "90-100" }, ["note"]],
])(
  "a row of %i addresses of %i accounts claims no more than it may",
  (sent, accounts, fields, absent) => {
    const report = { months: ["2026-11"], byStatus: [], byBand: [], byProvider: [] };

    const output = formatCalibration({ ...report, cells: [row(sent, accounts)] }) as {
      by_provider_status_and_score: readonly Record<string, unknown>[];
    };

    const [printed = {}] = output.by_provider_status_and_score;
    expect(printed).toMatchObject({ sent, accounts, ...fields });
    expect(Object.keys(printed).filter((name) => absent.includes(name))).toEqual([]);
  },
);
