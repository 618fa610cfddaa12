import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { discover, getPublishedPolicy } from "@mailproof/mail/dmarc/discover";
import { analyseSpf } from "@mailproof/mail/spf/analyse";
import { beforeAll, expect, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { DIFFERENCES, ZONES } from "./domain-zones.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Goal: a domain's SPF and DMARC are broken, cost as many look-ups and ask for the policies that another checker says, or
// a row of DIFFERENCES says who is right.
// Method: checkdmarc (PyPI) reads the same zones.

type Answer = {
  /** Look-ups of a sound policy. */
  readonly spf?: number | string;
  /** The policies of a sound record: for the domain, its subdomains, and names that do not exist. */
  readonly dmarc?: string;
};

const readByCheckdmarc = (): readonly Answer[] => {
  const { status, stdout, stderr } = spawnSync(
    join(getToolFolder("checkdmarc"), "bin/python"),
    [join(import.meta.dirname, "tools/checkdmarc/run.py")],
    {
      input: Object.values(ZONES)
        .map((zone) => `${JSON.stringify(zone)}\n`)
        .join(""),
      encoding: "utf8",
    },
  );
  const answers = stdout.split("\n").filter((line) => line !== "");
  if (status !== 0 || answers.length !== Object.keys(ZONES).length)
    throw new Error(`It ended with ${status} after ${answers.length} answers: ${stderr}`);
  return answers.map((line) => JSON.parse(line) as Answer);
};

const readByUs = async (zone: Zone): Promise<Answer> => {
  const dns = createZoneDns(zone);
  const [spf, { found }] = await Promise.all([
    analyseSpf(dns, { domain: "example.com" }),
    discover(dns, "example.com"),
  ]);
  const policies = [
    ["example.com", true],
    ["www.example.com", true],
    ["gone.example.com", false],
  ] as const;
  const asked = policies.map(([name, exists]) => found && getPublishedPolicy(found, name, exists));
  return {
    spf: spf.status === "fail" || spf.status === "missing" ? "broken" : spf.lookups,
    // RFC 6376 §3.2: a tag that stands twice makes the list invalid.
    dmarc: asked.includes(null) || found?.record.repeatedTags.length ? "broken" : asked.join(" "),
  };
};

describeUnless(findToolAbsence("checkdmarc"), "domains beside checkdmarc", () => {
  let theirs: readonly Answer[] = [];
  beforeAll(() => {
    theirs = readByCheckdmarc();
  });

  test.each(Object.entries(ZONES).map(([name, zone], at) => [name, zone, at] as const))(
    "%s is judged alike, or a row says who is right",
    async (name, zone, at) => {
      const ours = await readByUs(zone);
      const their = theirs[at];
      const parts = (["spf", "dmarc"] as const).filter((part) => ours[part] !== their?.[part]);
      const differences = parts.map((part) => ({
        part,
        ours: ours[part],
        theirs: their?.[part] ?? null,
      }));
      const { [name]: expected } = DIFFERENCES;

      expect(differences).toEqual(
        expected ? [{ part: expected.part, ours: expected.ours, theirs: expected.theirs }] : [],
      );
    },
  );

  test("each difference belongs to a zone", () => {
    expect(Object.keys(DIFFERENCES).filter((name) => !(name in ZONES))).toEqual([]);
  });
});
