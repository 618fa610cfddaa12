import { syncBuiltinESMExports } from "node:module";
import perfHooks from "node:perf_hooks";

// Loaded before a server that tests start: it measures that this machine is idle. A test run starts dozens of programs
// beside each other, and a server that measured that would refuse new work with 503. What it does then is shown in
// pressure.test.ts, with readings that the tests choose.

const { monitorEventLoopDelay } = perfHooks;

const monitorIdle: typeof monitorEventLoopDelay = (options) =>
  Object.defineProperty(monitorEventLoopDelay(options), "mean", { value: 0 });

Object.assign(perfHooks, { monitorEventLoopDelay: monitorIdle });
syncBuiltinESMExports();
