import { withMailServers } from "../capabilities/mail-servers.ts";
import { createProberHandler } from "../capabilities/prober.ts";
import { createBaseContext } from "../lambda-world.ts";
import { createLambdaLog } from "../log.ts";

const base = createBaseContext();
const { engine, wayOut } = withMailServers(base);

export const handler = createProberHandler(
  engine.probe,
  createLambdaLog(),
  // Only an operator waits for this test, and no probe.
  async ({ egressTest: { domains } }) => {
    const { runEgressTest } = await import("../capabilities/egress-test.ts");
    return runEgressTest(base, wayOut, domains);
  },
);
