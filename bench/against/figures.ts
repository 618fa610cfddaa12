/** What is measured of two trees, the less the better: `npm run bench -- --against REV`. */
export const FIGURES = {
  seconds: { what: "time", unit: "s" },
  processorSeconds: { what: "processor time", unit: "s" },
  peakMegabytes: { what: "peak memory", unit: "MB" },
  sessions: { what: "sessions opened at mail hosts", unit: "" },
  queries: { what: "DNS queries", unit: "" },
  bytesWritten: { what: "bytes written to the disk", unit: "" },
} as const;

export type FigureName = keyof typeof FIGURES;
