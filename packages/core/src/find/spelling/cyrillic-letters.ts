import { type Alphabet, parseAlphabet, parseRows } from "./alphabets.ts";

/** Languages that share an alphabet but spell its letters differently in a to z. */
export type CyrillicLanguage = "ru" | "uk" | "be" | "bg" | "sr" | "mk";

/*
 * The weights are judgements of how people and companies spell, beside the spellings of passports (ICAO 9303: iu, ia, ii) and
 * of the usual systems (BGN/PCGN: yu, ya, iy). They apply to names that cyrillic-names.ts lacks.
 */
const RUSSIAN = {
  ...parseRows("а a б b в v г g д d е e"),
  "^е": "e 75 ye 25",
  ё: "e 70 yo 30",
  жё: "zhe 80 zho 20",
  чё: "che 75 cho 25",
  шё: "she 75 sho 25",
  щё: "shche 75 shcho 25",
  ж: "zh 95 j 5",
  ...parseRows("з z и i"),
  й: "y 60 i 40",
  ...parseRows("к k л l м m н n о o п p р r с s т t у u ф f"),
  х: "kh 75 h 25",
  ц: "ts 85 c 15",
  ...parseRows("ч ch ш sh"),
  щ: "shch 65 sch 35",
  ...parseRows("ъ - ы y ь - э e"),
  ю: "yu 80 iu 20",
  я: "ya 80 ia 20",
  кс: "ks 75 x 25",
  дж: "dzh 50 j 50",
  ье: "ye 50 ie 35 e 15",
  ьё: "ye 45 ie 30 yo 25",
  ьи: "yi 60 i 40",
  ия: "iya 60 ia 40",
  ия$: "ia 55 iya 45",
  ья$: "ya 60 ia 40",
  ий$: "y 55 iy 25 ii 20",
  ый$: "y 68 iy 14 yi 10 yy 8",
  ой$: "oy 65 oi 35",
  ей$: "ey 65 ei 35",
  ай$: "ay 60 ai 40",
  ов$: "ov 97 off 3",
  // Macedonian and Serbian letters in a text of another language, then letters of Kazakh and its neighbours.
  ...parseRows(
    "ѓ gj ќ kj ѕ dz ј j љ lj њ nj ћ c ђ dj џ dz і i ї i є ie ґ g ў u ә a ғ g қ k ң n ө o " +
      "ұ u ү u һ h җ j",
  ),
};

const UKRAINIAN = {
  ...RUSSIAN,
  г: "h 75 g 25",
  зг: "zgh 70 zg 30",
  ...parseRows("ґ g е e ^е e"),
  є: "ie 65 ye 35",
  "^є": "ye 85 ie 15",
  ...parseRows("и y і i"),
  ї: "i 65 yi 35",
  "^ї": "yi 80 i 20",
  й: "i 50 y 50",
  "^й": "y",
  х: "kh 75 h 25",
  ц: "ts",
  ю: "iu 50 yu 50",
  "^ю": "yu 85 iu 15",
  я: "ia 55 ya 45",
  "^я": "ya 85 ia 15",
  ья: "ia 60 ya 40",
  ія$: "iia 35 iya 35 ia 30",
  ій$: "ii 50 iy 45 y 5",
  ий$: "yi 35 y 35 yy 15 iy 15",
  ай$: "ai 60 ay 40",
  ей$: "ei 60 ey 40",
  ой$: "oi 60 oy 40",
};

const BELARUSIAN = {
  ...RUSSIAN,
  г: "h 80 g 20",
  ...parseRows("е e ^е ye ^ё yo"),
  ё: "io 70 yo 30",
  і: "i",
  й: "i 65 y 35",
  ў: "u 85 w 15",
  ы: "y",
  ій$: "i 60 iy 40",
  ый$: "y",
  ю: "iu 60 yu 40",
  "^ю": "yu",
  я: "ia 65 ya 35",
  "^я": "ya",
  ья: "ia 50 ya 50",
};

const BULGARIAN = {
  ...RUSSIAN,
  "^е": "e",
  й: "y 75 i 25",
  х: "h",
  ц: "ts 85 tz 15",
  щ: "sht",
  ъ: "a 90 u 10",
  ...parseRows("ь y ьо yo"),
  ия: "iya 60 ia 40",
  ия$: "ia 65 iya 35",
  ...parseRows("ю yu я ya ой$ oy ей$ ey ай$ ay"),
};

/** The letters of the Serbian Latin alphabet, without their accents. */
const SERBIAN = {
  ...RUSSIAN,
  "^е": "e",
  ђ: "dj 75 d 25",
  ...parseRows("ж z ј j х h ц c ч c џ dz ш s ћ c кс ks дж dz ов$ ov"),
};

const MACEDONIAN = {
  ...SERBIAN,
  ж: "zh 65 z 35",
  ч: "ch 65 c 35",
  ш: "sh 65 s 35",
  џ: "dzh 65 dz 35",
  ...parseRows("ѓ gj ќ kj"),
};

export const CYRILLIC: Readonly<Record<CyrillicLanguage, Alphabet>> = {
  ru: parseAlphabet(RUSSIAN),
  uk: parseAlphabet(UKRAINIAN),
  be: parseAlphabet(BELARUSIAN),
  bg: parseAlphabet(BULGARIAN),
  sr: parseAlphabet(SERBIAN),
  mk: parseAlphabet(MACEDONIAN),
};
