import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import type { DmarcReport } from "@mailproof/core/deliverability/reports/report";
import { beforeAll, expect, test } from "vitest";
import { FAULTY_REPORTS } from "../core/deliverability/reports/faulty-reports.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createDmarcReport } from "../things/made-reports.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Goal: the sums of a report with a fault are those that another reader finds, and we refuse none that it reads.
// Method: parsedmarc (PyPI) reads the same files.

type Answer = {
  readonly domain?: string;
  readonly policy?: string;
  /** By source: messages, and those aligned by SPF, by DKIM, by either. */
  readonly sums?: Readonly<Record<string, readonly number[]>>;
  readonly error?: string;
};

const REPORTS = [["no fault", createDmarcReport()], ...FAULTY_REPORTS] as const;

const readByParsedmarc = (): readonly Answer[] => {
  const { status, stdout, stderr } = spawnSync(
    join(getToolFolder("parsedmarc"), "bin/python"),
    [join(import.meta.dirname, "tools/parsedmarc/run.py")],
    {
      input: REPORTS.map(([, file]) => `${Buffer.from(file as string).toString("base64")}\n`).join(
        "",
      ),
      encoding: "utf8",
    },
  );
  const answers = stdout.split("\n").filter((line) => line !== "");
  if (status !== 0 || answers.length !== REPORTS.length)
    throw new Error(`It ended with ${status} after ${answers.length} answers: ${stderr}`);
  return answers.map((line) => JSON.parse(line) as Answer);
};

const readByUs = async (file: string | Buffer): Promise<Answer> => {
  const { domain, policy, sources } = (await readReport(
    Buffer.from(file as string),
  )) as DmarcReport;
  return {
    domain,
    policy: policy.p ?? "",
    sums: Object.fromEntries(
      sources.map(({ ip, messages, spfAligned, dkimAligned, aligned }) => [
        ip,
        [messages, spfAligned, dkimAligned, aligned],
      ]),
    ),
  };
};

describeUnless(findToolAbsence("parsedmarc"), "DMARC reports compared with parsedmarc", () => {
  let theirs: readonly Answer[] = [];
  beforeAll(() => {
    theirs = readByParsedmarc();
  });

  test.each(REPORTS.map(([name, file], at) => [name, file, at] as const))(
    "a report with %s has the sums that parsedmarc finds, if parsedmarc reads it",
    async (_name, file, at) => {
      const ours = await readByUs(file);
      const their = theirs[at]?.error === undefined ? theirs[at] : ours;

      expect(ours).toEqual(their);
    },
  );

  test("our reader accepts the reports that real reporters send", () => {
    // The sample of RFC 9990 has a range of decades here, and the others are as they came.
    const refused = theirs.slice(0, 6).filter(({ error }) => error !== undefined);

    expect(refused).toEqual([]);
  });
});
