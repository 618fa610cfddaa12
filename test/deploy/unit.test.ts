import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildExecutable } from "../../scripts/build/executable.ts";
import { writePackage } from "../../scripts/build/package.ts";
import { openService } from "../journey/service.ts";
import { describeProgram, startProgram } from "../journey/started.ts";
import { createUnitProgram, findObstacle } from "../journey/unit.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createDmarcReport } from "../things/made-reports.ts";

// The executable in the sandbox of deploy/mailproof.service.

const UNIT = readFileSync("deploy/mailproof.service", "utf8");

describeUnless(findObstacle(), "the systemd unit, under systemd", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-unit-"));
  const executable = join(folder, "mailproof-linux-x64");
  beforeAll(async () => {
    // The unit's user passes through it.
    chmodSync(folder, 0o711);
    const packageFolder = join(folder, "package");
    await writePackage(packageFolder);
    buildExecutable(packageFolder, executable);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const createProgram = (unit: string) =>
    createUnitProgram(unit, executable, mkdtempSync(join(folder, "root-")));

  describeProgram("the systemd unit's system call filter", () => createProgram(UNIT));

  /** A server under the unit without these lines, and an upload to it that a reading thread reads. */
  const startWithout = async (lines: RegExp) => {
    const opened: (() => unknown)[] = [];
    onTestFinished(async () => {
      for (const close of opened.toReversed()) await close();
    });
    const program = createProgram(UNIT.replaceAll(lines, ""));
    const started = await startProgram(program, opened);
    const { baseUrl, key } = started.artefact;
    const ask = await openService(baseUrl, key);
    const body = { content: Buffer.from(createDmarcReport()).toString("base64") };
    return { ...started, upload: () => ask("POST /v1/deliverability/reports", { body }) };
  };

  test("the first report ends a server by SIGSYS where the filter kills and forbids setpriority", async () => {
    const lines = /^SystemCall(?:Filter=setpriority|ErrorNumber=.*)$/gm;
    const { upload, ended, stop } = await startWithout(lines);

    await expect(upload()).rejects.toThrow("fetch failed");
    await ended;

    expect(await stop()).toBe("SIGSYS");
  });

  test("the server reads a report where the filter refuses setpriority", async () => {
    const { upload, stop } = await startWithout(/^SystemCallFilter=setpriority$/gm);

    expect((await upload()).status).toBe(201);

    expect(await stop()).toBe(0);
  });
});
