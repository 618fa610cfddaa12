import { compressJson } from "../../lib/compress.ts";
import { CYRILLIC_NAMES } from "./cyrillic-names.ts";
import { JAPANESE_FAMILIES, JAPANESE_GIVEN } from "./japanese-names.ts";
import { PINYIN } from "./pinyin.ts";

// Packed, because most searches need none of these tables, and a bundle writes a non-ASCII letter in six bytes.

export const PACKED_TABLES = compressJson({
  pinyin: PINYIN,
  cyrillic: CYRILLIC_NAMES,
  japanese: { families: JAPANESE_FAMILIES, given: JAPANESE_GIVEN },
});
