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
