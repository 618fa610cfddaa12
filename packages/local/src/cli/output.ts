import { once } from "node:events";
import { accessSync, constants, createWriteStream, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "./define-command.ts";

export const formatAlreadyExists = (file: string): string =>
  `${file} already exists. Choose another name or add --force.`;

/** Checks the output before the first request that charges. The output must never replace its own list. */
export const assertWritable = (
  file: string | undefined,
  { force, list }: { readonly force: boolean; readonly list?: string | undefined },
): void => {
  if (file === undefined) return;
  const found = statSync(file, { throwIfNoEntry: false });
  if (found && list !== undefined && realpathSync(file) === realpathSync(list))
    throw new UsageError(`${file} is the list itself. Choose another name for the results.`);
  if (found?.isDirectory()) throw new UsageError(`${file} is a folder. Name a file in it.`);
  // Renaming the finished file to this name would replace the device.
  if (found && !found.isFile())
    throw new UsageError(`${file} is a device or a pipe. Leave out --out to print the results.`);
  if (found && !force) throw new UsageError(formatAlreadyExists(file));
  try {
    accessSync(`${dirname(file)}/`, constants.W_OK);
  } catch {
    throw new UsageError(
      `${file} cannot be written: its folder does not exist or is read-only. Create the folder, or choose another.`,
    );
  }
};

export const openOutput = async (
  file: string | undefined,
  force: boolean,
): Promise<NodeJS.WritableStream> => {
  if (file === undefined) return process.stdout;
  const out = createWriteStream(file, { flags: force ? "w" : "wx" });
  await once(out, "open").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === "EEXIST" ? formatAlreadyExists(file) : error.message);
  });
  return out;
};

export const writeOutput = async (
  out: NodeJS.WritableStream,
  text: string | Uint8Array,
): Promise<void> => {
  if (text.length > 0 && !out.write(text)) await once(out, "drain");
};
