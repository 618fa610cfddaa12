import { afterAll, expect, test } from "vitest";
import { type BundledStage, startBundledStage } from "../journey/bundled-stage.ts";
import { describeJourney } from "../journey/journey.ts";
import { describeWith } from "../runner/describe-when.ts";
import { DYNAMODB } from "./emulators.ts";

// The Lambdas from the bundles that a deployment uploads, each with its own settings and role.

describeWith(DYNAMODB, "the journey on AWS", () => {
  let stage: BundledStage;
  afterAll(() => stage.stop());

  describeJourney("the Lambdas of the journey", async () => {
    stage = await startBundledStage(process.env["LAMBDA_BUNDLES"]);
    return stage.artefact;
  });

  test("each Lambda ends without an error and calls only the actions of its role", () => {
    expect(stage.listFaults()).toEqual([]);
  });
});
