// npx node infra/cloud-init.ts exit.env > user-data writes the text that a provider's form calls user data: it installs an exit
// with the settings of exit.env, password included (docs/egress.md).
import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "deploy/exit";

/**
 * Reads deploy/exit/cloud-init.yaml and replaces the name of each file in it by the file's text. The text is a JSON string,
 * which YAML reads, too. `settings`: the lines of exit.env.
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
