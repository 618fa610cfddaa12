import type { AppWorld } from "@mailproof/core/app-world";
import { createDmarcReport, createRecord } from "./core/deliverability/reports/made-reports.ts";
import { START } from "./given.ts";
import { send } from "./send.ts";

/** The beginning of a day so many days before the start of a test, in epoch seconds. */
export const daysAgo = (days: number): number => START.getTime() / 1_000 - days * 86_400;

type UploadedReport = Omit<NonNullable<Parameters<typeof createDmarcReport>[0]>, "records"> & {
  readonly daysBefore?: number;
  readonly records?: readonly Parameters<typeof createRecord>[0][];
};

/** A DMARC report about a day. */
export const createDailyReport = ({
  daysBefore = 1,
  records = [{}],
  ...fields
}: UploadedReport = {}) => {
  const begin = daysAgo(daysBefore);
  return createDmarcReport({
    id: `report-${daysBefore}`,
    begin,
    end: begin + 86_399,
    ...fields,
    records: records.map((record) => createRecord(record)),
  });
};

export const uploadFile = (world: AppWorld, key: string, content: string | Uint8Array) =>
  send(world, "POST /v1/deliverability/reports", {
    key,
    form: [{ name: "file", fileName: "report.xml", content }],
  });

export const uploadReport = (world: AppWorld, key: string, report: UploadedReport = {}) =>
  uploadFile(world, key, createDailyReport(report));
