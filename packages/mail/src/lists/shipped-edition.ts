import { formatEdition, LIST_NAMES } from "./edition-file.ts";
import { readDomains } from "./pack.ts";
import { EDITION_SIGNATURE } from "./signature.ts";
import { WHOLE_EDITION } from "./whole-edition.ts";

/** Formats the signed text of the shipped edition. Equal lists produce equal bytes. */
export const formatShippedLists = (): string =>
  formatEdition(
    WHOLE_EDITION.version,
    LIST_NAMES.map((name) => {
      const { list, source, version, entries, sha256 } = WHOLE_EDITION.lists[name];
      const domains = readDomains(WHOLE_EDITION.lists[name]);
      return { list, source, version, entries, sha256, domains };
    }),
  );

/** Formats the shipped edition as an edition file. */
export const formatShippedEdition = (): Buffer =>
  Buffer.from(`${formatShippedLists()}${EDITION_SIGNATURE}\n`, "latin1");
