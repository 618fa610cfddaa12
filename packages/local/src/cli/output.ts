import { once } from "node:events";
import { accessSync, constants, createWriteStream, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "./define-command.ts";

export const formatAlreadyExists = (file: string): string =>
  `${file} already exists. Choose another name or add --force.`;

/** Checked before the first request that charges. The output never replaces the list that it is made from. */
export const assertWritable = (
  file: string | undefined,
  { force, list }: { readonly force: boolean; readonly list?: string | undefined },
): void => {
  if (file === undefined) return;
  const found = statSync(file, { throwIfNoEntry: false });
  if (found && list !== undefined && realpathSync(file) === realpathSync(list))
    throw new UsageError(`${file} is the list itself. Choose another name for the results.`);
  if (found?.isDirectory()) throw new UsageError(`${file} is a folder. Name a file in it.`);
  // The finished file is renamed to its name, which would replace the device.
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

/** Opens a file for results that are written as they come. An existing one is replaced only with force. */
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

/** As fast as the other end reads. */
export const writeOutput = async (
  out: NodeJS.WritableStream,
  text: string | Uint8Array,
): Promise<void> => {
  if (text.length > 0 && !out.write(text)) await once(out, "drain");
};
