import { open } from "node:fs/promises";
import { describeListing } from "@mailproof/api/endpoints/get-listing";
import { DomainName } from "@mailproof/api/schema/sender";
import type { Json } from "@mailproof/core/ports/table";
import { getEditionAge } from "@mailproof/mail/lists/edition-age";
import {
  EDITION_BYTES_MAX,
  type Edition,
  EditionFault,
  LIST_NAMES,
} from "@mailproof/mail/lists/edition-file";
import { createLists } from "@mailproof/mail/lists/lists";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import {
  installLists,
  readInstalled,
  readListChanges,
  rollBackLists,
} from "../lists/lists-folder.ts";
import { definePrinted } from "./define-admin.ts";
import { type CommandDefinition, UsageError } from "./define-command.ts";

const NO_OPTIONS = v.strictObject({});
const UPDATE_USAGE = "FILE|URL";

const describeEdition = ({ version, lists }: Edition): Readonly<Record<string, Json>> => ({
  version,
  age_days: getEditionAge(version, new Date()),
  lists: LIST_NAMES.map((name) => {
    const { list, source, version: of, entries, sha256 } = lists[name];
    return { list, entries, source, version: of, sha256 };
  }),
});

/** A fault of the file is a message for the operator, and no bug. */
const explain = async <T>(what: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof EditionFault
      ? new Error(`${what} ${error.message}. The lists are unchanged.`, { cause: error })
      : error;
  });

export const listsCommands = {
  "admin lists": definePrinted({ usage: "", options: NO_OPTIONS }, async ({ environment }) => {
    const { edition, file, isSigned, fault } = await readInstalled(environment);
    const signature = isSigned ? "valid" : "none";
    const refused = fault ? { refused: fault.message } : {};
    return {
      output: { ...describeEdition(edition), signature, installed: file, ...refused },
      exitCode: fault ? 1 : 0,
    };
  }),
  "admin lists update": {
    ...definePrinted(
      { usage: UPDATE_USAGE, options: NO_OPTIONS },
      async ({ environment, words }) => {
        const [source, ...others] = words;
        if (source === undefined || others.length > 0)
          throw new UsageError(
            `Missing file. Usage: ${PROGRAM} admin lists update ${UPDATE_USAGE}`,
          );
        const bytes = await readSource(source);
        const { edition, before } = await explain(
          source,
          installLists(environment, bytes, new Date()),
        );
        return { output: { ...describeEdition(edition), before: before.version } };
      },
    ),
    takesWords: true,
  },
  "admin lists show": {
    ...definePrinted({ usage: "DOMAIN", options: NO_OPTIONS }, async ({ environment, words }) => {
      const [typed, ...others] = words;
      const { success, output: domain } = v.safeParse(DomainName, typed);
      if (!success || others.length > 0)
        throw new UsageError(`Missing domain. Usage: ${PROGRAM} admin lists show DOMAIN`);
      const { edition } = await readInstalled(environment);
      const lists = createLists(readListChanges(environment), edition);
      return { output: describeListing(lists, domain) };
    }),
    takesWords: true,
  },
  "admin lists rollback": definePrinted(
    { usage: "", options: NO_OPTIONS },
    async ({ environment }) => ({
      output: describeEdition(await explain("The lists:", rollBackLists(environment))),
    }),
  ),
} satisfies Readonly<Record<string, CommandDefinition>>;

const DOWNLOAD_MS = 60_000;

const readSource = (source: string): Promise<Uint8Array> =>
  /^https?:\/\//i.test(source) ? download(source) : readLimited(source);

/** One byte more than the limit: reading this many bytes proves that the lists are too large. */
const BYTES_READ_MAX = EDITION_BYTES_MAX + 1;

const readLimited = async (file: string): Promise<Uint8Array> => {
  const opened = await open(file).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${cause.code}).`, { cause });
  });
  try {
    return await collect(opened.createReadStream({ end: BYTES_READ_MAX - 1, autoClose: false }));
  } finally {
    await opened.close();
  }
};

const download = async (url: string): Promise<Uint8Array> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}.`);
  return collect(response.body);
};

const collect = async (stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= BYTES_READ_MAX) break;
  }
  return Buffer.concat(pieces).subarray(0, BYTES_READ_MAX);
};
