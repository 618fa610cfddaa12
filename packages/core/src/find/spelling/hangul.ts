import { combineWays, type Weighted } from "../weighted.ts";
import { parseNames, parseRows, parseWays } from "./alphabets.ts";

/** Unicode §3.12 computes a syllable's code from its lead, vowel and tail. */
const FIRST_SYLLABLE = 0xac00;
const VOWELS_PER_LEAD = 21;
const TAILS_PER_VOWEL = 28;

/** The Revised Romanisation, letter by letter, as for names: adjacent syllables do not change each other. */
const LEADS = "g kk n d tt r m b pp s ss - j jj ch k t p h".split(" ");
const VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ");
const TAILS = "- k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" ");

/** Spellings of family names are older than the romanisation; the weights are judgements. */
const FAMILIES = parseNames(`
  김 kim 97 gim 3
  이 lee 88 yi 8 rhee 4
  박 park 94 bak 3 pak 3
  최 choi 95 choe 5
  정 jung 50 jeong 35 chung 15
  강 kang 96 gang 4
  조 cho 72 jo 28
  윤 yoon 70 yun 30
  장 jang 85 chang 15
  임 lim 70 im 25 rim 5
  오 oh 85 o 15
  서 seo 85 suh 15
  신 shin 90 sin 10
  권 kwon 94 gwon 6
  안 ahn 60 an 40
  류 ryu 75 yoo 15 yu 10
  유 yoo 60 yu 30 you 10
  전 jeon 70 jun 20 chun 10
  고 ko 72 go 22 koh 6
  문 moon 85 mun 15
  손 son 75 sohn 25
  배 bae 90 pae 10
  백 baek 65 paik 20 back 15
  허 heo 55 hur 30 huh 15
  심 shim 75 sim 25
  노 noh 55 roh 25 no 20
  곽 kwak 90 gwak 10
  성 sung 60 seong 40
  주 joo 65 ju 35
  우 woo 88 wu 12
  구 koo 60 gu 30 ku 10
  나 na 85 ra 15
  엄 um 50 eom 50
  추 choo 55 chu 45
  공 kong 75 gong 25
  현 hyun 80 hyeon 20
  변 byun 65 byeon 35
  석 seok 65 suk 35
  선 sun 60 seon 40
  길 gil 60 kil 40
  명 myung 65 myeong 35
  기 ki 70 gi 30
  금 keum 60 geum 40
  남궁 namgung 75 namkung 25
  황보 hwangbo
  선우 sunwoo 70 seonwoo 30
`);

/** Syllables of given names that many people spell differently from the romanisation. */
const GIVEN = Object.fromEntries(
  Object.entries({
    ...parseRows(
      "영 young,62,yeong,38 현 hyun,70,hyeon,30 정 jung,58,jeong,42 성 sung,60,seong,40",
    ),
    ...parseRows(
      "준 jun,65,joon,35 우 woo,82,u,18 수 soo,58,su,42 희 hee,88,hui,12 경 kyung,70,gyeong,30",
    ),
    ...parseRows(
      "선 sun,52,seon,48 주 ju,60,joo,40 훈 hoon,70,hun,30 철 chul,72,cheol,28 석 seok,65,suk,35",
    ),
    ...parseRows(
      "연 yeon,78,youn,22 윤 yoon,58,yun,42 규 kyu,70,gyu,30 기 ki,70,gi,30 건 gun,40,geon,40,kun,20",
    ),
    ...parseRows(
      "미 mi,90,mee,10 진 jin,95,jean,5 원 won,95,weon,5 형 hyung,68,hyeong,32 승 seung,88,sung,12",
    ),
    ...parseRows(
      "용 yong,90,young,10 명 myung,65,myeong,35 민 min 유 yu,65,yoo,35 시 si,72,shi,28 인 in",
    ),
    ...parseRows(
      "은 eun 광 kwang,80,gwang,20 구 koo,55,gu,45 권 kwon,80,gwon,20 국 kook,60,guk,40",
    ),
  }).map(([syllable, ways]) => [syllable, parseWays(ways.replaceAll(",", " "))]),
);

/** Spells syllable by syllable; a family name is one word. */
export const spellHangul = (
  word: string,
  as: "first" | "last",
): readonly Weighted<readonly string[]>[] => {
  if (as === "last") {
    const ways = FAMILIES.get(word);
    if (ways) return ways.map(({ value, weight }) => ({ value: [value], weight }));
  }
  const syllables = Array.from(word, (syllable) => GIVEN[syllable] ?? romanize(syllable));
  if (syllables.some((ways) => ways.length === 0)) return [];
  const ways = combineWays(syllables);
  return as === "first"
    ? ways
    : ways.map(({ value, weight }) => ({ value: [value.join("")], weight }));
};

/** Empty for a letter that is not a whole syllable, such as ㅋ. */
const romanize = (syllable: string): readonly Weighted<string>[] => {
  const number = (syllable.codePointAt(0) ?? 0) - FIRST_SYLLABLE;
  const lead = LEADS[Math.floor(number / (VOWELS_PER_LEAD * TAILS_PER_VOWEL))];
  const vowel = VOWELS[Math.floor(number / TAILS_PER_VOWEL) % VOWELS_PER_LEAD];
  const tail = TAILS[number % TAILS_PER_VOWEL];
  return lead === undefined || vowel === undefined || tail === undefined
    ? []
    : [{ value: (lead + vowel + tail).replaceAll("-", ""), weight: 1 }];
};
