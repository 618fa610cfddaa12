import { monitorEventLoopDelay } from "node:perf_hooks";
import { readEnvironment } from "@mailproof/local/environment";
import { start } from "@mailproof/local/server/start";

// The server of one run. It tells where it answers and what memory it took so far, and once more when it ends.

export type ServerFigures = {
  readonly baseUrl: string;
  readonly peakMegabytes: number;
  readonly stallMs: number;
  readonly processorSeconds: number;
};

const [, , folder = ""] = process.argv;
const { baseUrl, stop } = await start(
  readEnvironment({ MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "" }),
  false,
);

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

const readFigures = (): ServerFigures => ({
  baseUrl,
  // In kilobytes on every platform.
  peakMegabytes: (process.resourceUsage().maxRSS * 1_024) / 1e6,
  stallMs: delay.max / 1e6,
  processorSeconds: (({ user, system }) => (user + system) / 1e6)(process.cpuUsage()),
});

process.send?.(readFigures());
process.once("message", () => {
  process.send?.(readFigures());
  void stop().then(() => process.exit());
});
