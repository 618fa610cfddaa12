import { formatEdition, LIST_NAMES } from "./edition-file.ts";
import { readDomains } from "./pack.ts";
import { EDITION_SIGNATURE } from "./signature.ts";
import { WHOLE_EDITION } from "./whole-edition.ts";

/** The text that the signature of the shipped edition is of. The same lists give the same bytes. */
export const formatShippedLists = (): string =>
  formatEdition(
    WHOLE_EDITION.version,
    LIST_NAMES.map((name) => {
      const { list, source, version, entries, sha256 } = WHOLE_EDITION.lists[name];
      const domains = readDomains(WHOLE_EDITION.lists[name]);
      return { list, source, version, entries, sha256, domains };
    }),
  );

/** The edition that this release ships with, as a file of it has it. */
export const formatShippedEdition = (): Buffer =>
  Buffer.from(`${formatShippedLists()}${EDITION_SIGNATURE}\n`, "latin1");
