import { gzipSync } from "node:zlib";
import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import { HOSTILE_FILES } from "../test/core/deliverability/reports/hostile-files.ts";
import { createRow, type ReportRow } from "./report.ts";

// Reports of receivers, read one after the other on one core: unpacked, parsed and summed, as they are before they are
// stored. Work is counted in processor time, which other programs on the machine disturb least. Then what a hostile file
// may cost: bombs, and the largest report that is read.

const REPORTS = 10_000;
const RECORDS = 100;
const DIFFERENT_REPORTS = 200;
const BEGIN = 1_772_323_200;

const createRecord = (seed: number, at: number): string => {
  const ip =
    at % 5 === 0 ? `2001:db8::${(seed * 131 + at).toString(16)}` : `198.18.${seed % 256}.${at}`;
  const verdict = (seed + at) % 7 === 0 ? "fail" : "pass";
  return `  <record>
    <row>
      <source_ip>${ip}</source_ip>
      <count>${1 + ((seed * at) % 997)}</count>
      <policy_evaluated>
        <disposition>none</disposition>
        <dkim>${verdict}</dkim>
        <spf>pass</spf>
        ${at % 10 === 0 ? "<reason><type>forwarded</type><comment>looks forwarded</comment></reason>" : ""}
      </policy_evaluated>
    </row>
    <identifiers>
      <envelope_from>bounce${at}.example.com</envelope_from>
      <header_from>example.com</header_from>
    </identifiers>
    <auth_results>
      <dkim>
        <domain>example.com</domain>
        <selector>s${at % 3}</selector>
        <result>${verdict}</result>
      </dkim>
      <spf>
        <domain>bounce${at}.example.com</domain>
        <scope>mfrom</scope>
        <result>pass</result>
      </spf>
    </auth_results>
  </record>
`;
};

const createReport = (seed: number, records = RECORDS): Buffer => {
  const rows = Array.from({ length: records }, (_, at) => createRecord(seed, at));
  return gzipSync(`<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <report_metadata>
    <org_name>receiver${seed % 20}.example</org_name>
    <email>noreply@receiver.example</email>
    <report_id>${seed}</report_id>
    <date_range><begin>${BEGIN}</begin><end>${BEGIN + 86_399}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>example.com</domain>
    <adkim>r</adkim><aspf>r</aspf><p>quarantine</p><sp>none</sp><pct>100</pct>
  </policy_published>
${rows.join("")}</feedback>`);
};

const HOSTILE = HOSTILE_FILES.map(([, file]) => Buffer.from(file as string));

export const run = async (): Promise<readonly ReportRow[]> => {
  const reports = Array.from({ length: DIFFERENT_REPORTS }, (_, seed) => createReport(seed));
  for (const report of reports) await readReport(report);
  const memoryBefore = process.memoryUsage().rss;
  let peak = memoryBefore;
  const cpuBefore = process.cpuUsage();
  for (let nth = 0; nth < REPORTS; nth++) {
    const report = reports[nth % DIFFERENT_REPORTS];
    if (!report || (await readReport(report)).rows !== RECORDS)
      throw new Error("a report was read wrongly");
    if (nth % 100 === 0) peak = Math.max(peak, process.memoryUsage().rss);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const seconds = (user + system) / 1e6;
  const hostile = await measureHostile();
  return [
    createRow("reportsRate", REPORTS / seconds),
    { what: "memory on top, at its peak", value: (peak - memoryBefore) / 1e6, unit: "MB" },
    { what: "hostile files refused", value: hostile.refused, unit: `of ${HOSTILE.length}` },
    createRow("reportsHostileMemory", hostile.grownMegabytes),
    { what: "the slowest hostile file", value: hostile.slowestMs, unit: "ms" },
  ];
};

const measureHostile = async () => {
  const before = process.memoryUsage().rss;
  let [refused, slowestMs, peak] = [0, 0, before];
  for (const file of HOSTILE) {
    const startedAt = performance.now();
    try {
      await readReport(file);
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error;
      refused++;
    }
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  return { refused, slowestMs, grownMegabytes: (peak - before) / 1e6 };
};
