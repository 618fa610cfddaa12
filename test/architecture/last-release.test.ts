import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listSettings } from "../../infra/iam.ts";
import { lambdas, routes, workerSpecs } from "../../infra/topology.ts";
import { findReleaseAbsence, importFromLastRelease } from "../app/release.ts";
import { describeUnless } from "../runner/describe-when.ts";

// AWS updates a stage piece by piece: the settings of a Lambda apart from its code, one Lambda after the other, and the routes
// and queues at some moment in between. So each piece of today must fit the others of the last release.

type Topology = Pick<
  typeof import("../../infra/topology.ts"),
  "lambdas" | "routes" | "workerSpecs"
>;
type Iam = Pick<typeof import("../../infra/iam.ts"), "listSettings">;

const givenLastRelease = async () => ({
  ...(await importFromLastRelease<Topology>("infra/topology.ts")),
  ...(await importFromLastRelease<Iam>("infra/iam.ts")),
});

/** What a Lambda does not start without. */
const REQUIRED = globSync("packages/functions/src/**/*.ts").flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/requireSetting\(\w+, "(\w+)"\)/g)].map(
    ([, name]) => name,
  ),
);

describeUnless(findReleaseAbsence(), "a stage of the last release", () => {
  test("the Lambdas of the last release receive each of their settings from the new stage", async () => {
    const last = await givenLastRelease();
    const missing = last.lambdas.flatMap((one) => {
      const now = lambdas.find(({ name }) => name === one.name);
      const given = now ? listSettings(now) : [];
      return last.listSettings(one).filter((name) => !given.includes(name));
    });

    expect(missing).toEqual([]);
  });

  test("the stage of the last release gives today's Lambdas each required setting", async () => {
    const last = await givenLastRelease();
    const missing = lambdas.flatMap((one) => {
      const before = last.lambdas.find(({ name }) => name === one.name);
      const given = before ? last.listSettings(before) : listSettings(one);
      return listSettings(one).filter((name) => REQUIRED.includes(name) && !given.includes(name));
    });

    expect(REQUIRED).toContain("KEY_PEPPER");
    expect(missing).toEqual([]);
  });

  test("each route of the last release leads to a Lambda, and a Lambda reads each of its queues", async () => {
    const last = await givenLastRelease();
    const today = [...routes.map(({ route }) => route), ...workerSpecs.map(({ queue }) => queue)];
    const before = [
      ...last.routes.map(({ route }) => route),
      ...last.workerSpecs.map(({ queue }) => queue),
    ];

    expect(before.filter((one) => !today.includes(one))).toEqual([]);
  });
});
