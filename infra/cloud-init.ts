// npx node infra/cloud-init.ts exit.env > user-data prints what a provider's form calls user data, for an exit with the settings of that
// file (docs/egress.md), its password included.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "deploy/exit";

/**
 * deploy/exit/cloud-init.yaml with what it names in the place of the names: the container has the same files. JSON's strings
 * are YAML's, too. `settings`: the lines of exit.env.
 */
export const createCloudInit = (settings: string, root = "."): string => {
  const read = (name: string): string => readFileSync(join(root, FOLDER, name), "utf8");
  return read("cloud-init.yaml").replaceAll(/\$\{([\w.-]+)\}/g, (_, name: string) =>
    JSON.stringify(name === "exit.env" ? settings : read(name)),
  );
};

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    process.stderr.write("Usage: npx node infra/cloud-init.ts exit.env > user-data\n");
    process.exit(2);
  }
  process.stdout.write(createCloudInit(readFileSync(file, "utf8")));
}
