// npx node scripts/prepare-infra.mjs fetches what deploys to AWS, and what test/infra runs it with. A package registry is all that
// it needs: no AWS, and no other host. Where it cannot be done it says why; under CI that is a failure.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SST = "infra/node_modules/.bin/sst";
const PLATFORM = ".sst/platform";

/** What SST asks for before it does anything at all. Nothing of Pulumi's is run to prepare. */
const PULUMI = "v3.215.0";
const STUB = `#!/bin/sh
[ "$1" = version ] && echo ${PULUMI} && exit 0
echo "This stands for Pulumi while this is prepared, and does nothing." >&2
exit 1
`;

const run = (command, args, env = {}) =>
  execFileSync(command, args, { stdio: "inherit", env: { ...process.env, ...env } });

/** SST would download Pulumi, which no package registry has. It looks here for it first. */
const withStub = () => {
  if (process.platform !== "linux") return {};
  const home = join(process.cwd(), ".cache/sst-home");
  const stub = join(home, "sst/bin/pulumi");
  mkdirSync(join(home, "sst/bin"), { recursive: true });
  writeFileSync(stub, STUB);
  chmodSync(stub, 0o755);
  return { XDG_CONFIG_HOME: home };
};

const isInstalled = () => {
  const file = join(PLATFORM, "version");
  const wanted = JSON.parse(readFileSync("infra/package.json", "utf8")).devDependencies.sst;
  return existsSync(file) && readFileSync(file, "utf8").trim() === wanted;
};

try {
  // esbuild's install script only checks what npm has already chosen.
  run("npm", ["ci", "--prefix", "infra", "--ignore-scripts", "--no-audit", "--no-fund"]);
  if (isInstalled()) console.log(`${PLATFORM} is already there.`);
  else
    run(SST, ["install", "--stage", "prepare"], {
      ...withStub(),
      SST_TELEMETRY_DISABLED: "1",
      SST_NO_BUN: "1",
    });
} catch (error) {
  console.error(`The infrastructure cannot be prepared here: ${error.message}`);
  process.exitCode = process.env.CI ? 1 : 0;
}
