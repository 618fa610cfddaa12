import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readEdition } from "../../packages/mail/src/lists/edition-file.ts";
import { LISTS_PUBLIC_KEY } from "../../packages/mail/src/lists/public-key.ts";
import { formatShippedEdition } from "../../packages/mail/src/lists/shipped-edition.ts";

/** Returns the name of the file. Lists that were not signed are refused. */
export const writeEdition = async (folder: string): Promise<string> => {
  const file = formatShippedEdition();
  const { version } = await readEdition(file, LISTS_PUBLIC_KEY, async () => undefined);
  const name = `mailproof-lists-${version}.txt`;
  writeFileSync(join(folder, name), file);
  return name;
};
