import { decompressJson } from "../../lib/compress.ts";
import { type Alphabet, parseNames } from "./alphabets.ts";
import type { CyrillicLanguage } from "./cyrillic-letters.ts";
import { PACKED_TABLES } from "./tables.built.ts";

type PackedTables = {
  readonly pinyin: string;
  readonly cyrillic: Readonly<Record<CyrillicLanguage, string>>;
  readonly japanese: Readonly<Record<"families" | "given", string>>;
};

type SpellingTables = {
  /** The syllables have v for ü. */
  readonly pinyin: ReadonlyMap<string, string>;
  readonly cyrillic: Readonly<Record<CyrillicLanguage, Alphabet>>;
  readonly japanese: Readonly<Record<"families" | "given", Alphabet>>;
};

const readTables = (): SpellingTables => {
  const { pinyin, cyrillic, japanese } = decompressJson(PACKED_TABLES) as PackedTables;
  return {
    pinyin: readPinyin(pinyin),
    cyrillic: {
      ru: parseNames(cyrillic.ru),
      uk: parseNames(cyrillic.uk),
      be: parseNames(cyrillic.be),
      bg: parseNames(cyrillic.bg),
      sr: parseNames(cyrillic.sr),
      mk: parseNames(cyrillic.mk),
    },
    japanese: { families: parseNames(japanese.families), given: parseNames(japanese.given) },
  };
};

const readPinyin = (rows: string): ReadonlyMap<string, string> =>
  new Map(
    rows
      .trim()
      .split(/\s+/)
      .flatMap((row) => {
        const [syllable = ""] = /^[a-z]+/.exec(row) ?? [];
        return Array.from(row.slice(syllable.length), (one) => [one, syllable] as const);
      }),
  );

let tables: SpellingTables | undefined;

export const getTables = (): SpellingTables => (tables ??= readTables());
