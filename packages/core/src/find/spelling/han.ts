import { combineWays, type Weighted } from "../weighted.ts";
import { parseNames, parseWays } from "./alphabets.ts";
import { getTables } from "./tables.ts";

/** Each language reads Han characters differently. Cantonese has no regular spelling, so its names are not read. */
export type HanReading = "chinese" | "japanese" | "none";

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}々]/u;
const BY_COUNTRY: Readonly<Record<string, HanReading>> = {
  jp: "japanese",
  cn: "chinese",
  hk: "none",
  mo: "none",
};

/** Chinese family names have one character, or are among a few with two; all others are Japanese. */
export const guessHanReading = (
  { first, last }: { readonly first: string; readonly last: string },
  country: string,
): HanReading => {
  if (KANA.test(first + last)) return "japanese";
  const byCountry = BY_COUNTRY[country];
  if (byCountry) return byCountry;
  const isLong = /\p{Script=Han}{2}/u.test(last);
  return isLong && !CHINESE_FAMILIES.has(last) ? "japanese" : "chinese";
};

/** Family names with two characters, and family names whose character has another reading elsewhere. */
const CHINESE_FAMILIES = parseNames(`
  欧阳 ouyang
  歐陽 ouyang
  司马 sima
  司馬 sima
  上官 shangguan
  诸葛 zhuge
  諸葛 zhuge
  司徒 situ
  东方 dongfang
  東方 dongfang
  皇甫 huangfu
  尉迟 yuchi
  尉遲 yuchi
  公孙 gongsun
  公孫 gongsun
  慕容 murong
  令狐 linghu
  夏侯 xiahou
  端木 duanmu
  南宫 nangong
  南宮 nangong
  长孙 zhangsun
  長孫 zhangsun
  宇文 yuwen
  轩辕 xuanyuan
  闻人 wenren
  单 shan
  單 shan
  曾 zeng
  解 xie
  查 zha
  仇 qiu
  区 ou
  區 ou
  朴 piao 80 park 20
  盖 ge 60 gai 40
  蓋 ge 60 gai 40
  覃 qin 70 tan 30
  乐 yue 60 le 40
  樂 yue 60 le 40
  种 chong
  缪 miao
  繆 miao
  宓 mi
  员 yun
  那 na
  冼 xian
  洗 xian
  秘 bi
  燕 yan
  卜 bu
  车 che
  車 che
  纪 ji
  紀 ji
  牟 mou 60 mu 40
  谌 chen 70 shen 30
  尉 wei
  折 she
  臧 zang
  翟 zhai
  俞 yu
  沈 shen
  沉 shen
  叶 ye
  葉 ye
  薄 bo
  干 gan
  万 wan
  重 chong
  吕 lv 45 lu 40 lyu 15
  呂 lv 40 lu 45 lyu 15
`);

/** Keyboards enter ü as v, many people write u, and passports print yu. */
const spellUmlaut = (syllable: string): string =>
  syllable.includes("v")
    ? `${syllable.replace("v", "u")} 50 ${syllable} 35 ${syllable.replace("v", "yu")} 15`
    : syllable;

const findPinyin = (character: string): readonly Weighted<string>[] => {
  const syllable = getTables().pinyin.get(character);
  return syllable === undefined ? [] : parseWays(spellUmlaut(syllable));
};

/** Spells syllable by syllable; a family name is one word. Empty for an unknown character or name. */
export const spellHan = (
  word: string,
  as: "first" | "last",
  reading: HanReading,
): readonly Weighted<readonly string[]>[] => {
  if (reading === "none") return [];
  if (reading === "japanese")
    return toWords(getTables().japanese[as === "first" ? "given" : "families"].get(word) ?? []);
  const family = as === "last" ? CHINESE_FAMILIES.get(word) : undefined;
  if (family) return toWords(family);
  const syllables = Array.from(word, findPinyin);
  if (syllables.some((ways) => ways.length === 0)) return [];
  const ways = combineWays(syllables);
  return as === "first"
    ? ways
    : ways.map(({ value, weight }) => ({ value: [value.join("")], weight }));
};

const toWords = (ways: readonly Weighted<string>[]): readonly Weighted<readonly string[]>[] =>
  ways.map(({ value, weight }) => ({ value: [value], weight }));
