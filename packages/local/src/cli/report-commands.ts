import { audit } from "@mailproof/core/background/audit";
import {
  ACCOUNTS_MIN,
  type CalibrationReport,
  type CalibrationRow,
  reportCalibration,
  SENT_MIN,
} from "@mailproof/core/calibration/report";
import { HOUR_MS } from "@mailproof/core/lib/time";
import type { Json } from "@mailproof/core/ports/table";
import {
  type CanaryCounts,
  isInDoubt,
  listCanaryCounts,
  REFUSALS_IN_A_ROW,
} from "@mailproof/core/verify/canaries";
import * as v from "valibot";
import { numeric } from "../environment.ts";
import { definePortable } from "./define-admin.ts";
import { Flag } from "./define-command.ts";

export const formatProviders = (all: readonly CanaryCounts[], now: Date): Json => ({
  providers: all.map((counts) => ({
    provider: counts.sk,
    refuses_unknown_recipients: isInDoubt(counts) ? "in_doubt" : "confirmed",
    canaries: counts.asked,
    refused: counts.refused,
    refused_in_a_row: counts.inARow,
    last_at: counts.lastAt,
    last_hours_ago: countHours(counts.lastAt, now),
    ...(counts.acceptedAt !== undefined && { last_accepted_at: counts.acceptedAt }),
    ...(isInDoubt(counts) && { refusals_until_trusted: REFUSALS_IN_A_ROW - counts.inARow }),
  })),
});

const countHours = (since: string, now: Date): number =>
  Math.round((now.getTime() - Date.parse(since)) / HOUR_MS);

export const formatCalibration = (report: CalibrationReport): Json => ({
  months: report.months,
  by_status: report.byStatus.map(formatRow),
  by_score: report.byBand.map(formatRow),
  by_provider_and_status: report.byProvider.map(formatRow),
  by_provider_status_and_score: report.cells.map(formatRow),
});

const formatRow = (row: CalibrationRow): Json => {
  const { provider, status, band, sent, bounced, soft, accounts, share, interval } = row;
  const note = findNote(row);
  return {
    ...(provider !== undefined && { provider }),
    ...(status !== undefined && { status }),
    ...(band !== undefined && { score: formatBand(band) }),
    sent,
    bounced,
    soft,
    accounts,
    ...(share !== null && { bounce_share: share, interval }),
    ...(note !== undefined && { note }),
  };
};

const formatBand = (band: number): string => `${band}-${band === 90 ? 100 : band + 9}`;

const findNote = ({ sent, accounts }: CalibrationRow): string | undefined => {
  if (sent < SENT_MIN) return `too few: below ${SENT_MIN} addresses nothing is claimed`;
  if (accounts < ACCOUNTS_MIN)
    return `fewer than ${ACCOUNTS_MIN} accounts: it may be the habit of one sender`;
  return undefined;
};

const Months = numeric(/^(?:[1-9]|1[0-3])$/, "must be a number of months from 1 to 13");

export const reportDefinitions = {
  "admin calibration": definePortable({
    usage: "[--months M]",
    options: v.strictObject({ months: v.optional(Months, "2") }),
    async run(world, { months }) {
      return { output: formatCalibration(await reportCalibration(world, months)) };
    },
  }),

  "admin providers": definePortable({
    usage: "",
    options: v.strictObject({}),
    async run(world) {
      return { output: formatProviders(await listCanaryCounts(world.table), world.now()) };
    },
  }),

  "admin audit": definePortable({
    usage: "[--full]",
    options: v.strictObject({ full: Flag }),
    async run(world, { full }) {
      const output = await audit(world.table, world.now(), { isFull: full });
      return { output, exitCode: output.ok ? 0 : 1 };
    },
  }),
};
