import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lambdas } from "../../infra/topology.ts";
import { createRole } from "../app/rights.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createExchanges, type Exchange, findOwnQueue, summarize } from "./exchanges.ts";
import { startInstance } from "./instance.ts";
import { createStage, type Stage } from "./stage.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Every file that would be deployed, run by AWS's own runtime client, with the settings and the permissions that the
// Lambda gets, and nothing else.

const CLIENT = join(getToolFolder("runtime_client"), "node_modules/aws-lambda-ric/index.mjs");

/** A Lambda is frozen for longer than the adapters keep an idle connection. */
const FROZEN_MS = 5_500;
const TIMEOUT_MS = 2_000;

describeUnless(findToolAbsence("runtime_client"), "Lambdas under AWS's runtime client", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-lambdas-"));
  let stage: Stage;

  beforeAll(async () => {
    execFileSync(process.execPath, ["infra/bundle-lambdas.ts", folder]);
    stage = await createStage();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.concurrent.each(lambdas)(
    "the Lambda $name handles two events, one after a freeze, one malformed and one that takes too long",
    async (lambda) => {
      const proxy = await stage.openProxy(createRole(lambda, findOwnQueue(lambda)));
      const taskRoot = join(folder, lambda.name);
      const instance = await startInstance({
        args: [CLIENT],
        cwd: taskRoot,
        environment: {
          ...stage.buildEnvironment(lambda, proxy.url),
          LAMBDA_TASK_ROOT: taskRoot,
          _HANDLER: lambda.handler,
        },
      });
      const exchanges = createExchanges(lambda, stage);
      const meet = async ({ event, answer }: Exchange, timeoutMs: number) => {
        const outcome = await instance.invoke(event, timeoutMs);
        expect(summarize(outcome), `${JSON.stringify(outcome)}\n${instance.getLog()}`).toMatch(
          answer,
        );
      };
      const usualMs = lambda.timeoutSeconds * 1000;
      try {
        await meet(exchanges.first, usualMs);
        await meet(exchanges.second, usualMs);

        instance.freeze();
        proxy.cutConnections();
        await setTimeout(FROZEN_MS);
        instance.thaw();
        await meet(exchanges.first, usualMs);
        expect(proxy.countLateRequests()).toBe(0);

        await meet(exchanges.broken, usualMs);
        await meet(exchanges.first, usualMs);
        expect(proxy.refused).toEqual([]);

        proxy.fallSilent();
        await meet(exchanges.late, TIMEOUT_MS);
      } finally {
        await instance.stop();
        proxy.close();
      }
    },
  );
});
