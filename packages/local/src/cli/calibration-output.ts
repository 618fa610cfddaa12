import {
  ACCOUNTS_MIN,
  type CalibrationReport,
  type CalibrationRow,
  SENT_MIN,
} from "@mailproof/core/calibration/report";
import type { Json } from "@mailproof/core/ports/table";

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
