import { spawnSync } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { createLineLog } from "@mailproof/local/line-log";
import { expect, test, vi } from "vitest";

const NOW = new Date("2026-11-26T10:00:00.000Z");

test("the lines that are logged in one turn are one write, in their order", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const log = createLineLog("info", () => NOW);
  log("started", { pid: 1 });
  log("stopped", { pid: 2 });
  await setImmediate();
  log("started", { pid: 3 });
  await setImmediate();

  const line = (event: string, pid: number) =>
    `{"at":"2026-11-26T10:00:00.000Z","level":"info","event":"${event}","pid":${pid}}\n`;
  expect(write.mock.calls.map(([text]) => text)).toEqual([
    line("started", 1) + line("stopped", 2),
    line("started", 3),
  ]);
  write.mockRestore();
});

test.each([
  ["ends", "process.exit(0)"],
  ["fails", 'throw new Error("broken")'],
])("what is logged right before the process %s is written", (_, ending) => {
  const script = `
    const { createLineLog } = await import("@mailproof/local/line-log");
    createLineLog("info", () => new Date())("stopped", { pid: 7 });
    ${ending}`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
  });

  expect(stderr).toContain('"event":"stopped","pid":7}\n');
});
