import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES, splitWords } from "./name-words.ts";

/**
 * Names and syllables of countries whose spelling in a to z differs most from `name-words.ts`, as their states or their people write them.
 * Only the spelling model reads them. Also written by hand.
 */
export const NAMES_BY_COUNTRY: readonly string[] = splitWords(`
  volodymyr oleksandr oleksandra andrii serhii mykola mykhailo yurii vasyl vitalii dmytro yevhen yevheniia bohdan bohdana
  taras ostap maksym anatolii hryhorii petro pavlo ihor oleh ruslan viacheslav valentyn stepan yaroslav yaroslava sviatoslav
  vsevolod myroslav myroslava stanislava liubomyr rostyslav vladyslav vadym artem danylo tymofii illia matvii nazar zakhar
  svitlana nataliia tetiana olena iryna oksana liudmyla halyna valentyna yuliia mariia nadiia khrystyna solomiia zoriana
  yaryna larysa kateryna anastasiia viktoriia yelyzaveta polina vira liubov lesia orysia hanna zinaida nina zlata bozhena
  shevchenko bondarenko kovalenko tkachenko kravchuk oliinyk shevchuk polishchuk melnyk marchenko savchenko rudenko moroz
  petrenko klymenko pavlenko vasylenko hrytsenko zinchenko khomenko panchenko yushchenko tymoshenko zelenskyi vyshnevskyi
  skoropadskyi hrushevskyi kotsiubynskyi khmelnytskyi sahaidachnyi chornovil zabuzhko dovzhenko stefanyk honchar tychyna
  rylskyi franko symonenko drahomanov mazepa kostiuk humeniuk romaniuk martyniuk palamarchuk hnatiuk danyliuk vlasiuk
  pryimak tyshchenko yurchenko kolomiiets chaika sydorenko prokopenko yarmolenko hordiienko yevtushenko tsymbal zhuk
  dubrovska vysotska lozynska yavorska zaluzhna zhadan andrukhovych izdryk prokhasko matios deresh shkliar pidmohylnyi
  yevgeny yevgeniya vyacheslav grigory arkady valery gennady vitaly anatoly yaroslav rostislav svyatoslav lyubov
  lyudmila zhanna tatyana kseniya nadezhda yuliya mikhail fyodor nikita kirill ilya matvey arseny timofey yegor vasily
  mikhailov petrov ivanov smirnov kuznetsov popov vasiliev sokolov fyodorov morozov volkov alekseev lebedev semyonov yegorov
  kozlov stepanov nikolaev zakharov zhukov shcherbakov solovyov vinogradov gusev tikhonov belyaev tarasov belov komarov
  kiselyov vorobyov sorokin yakovlev grigoriev melnikov polyakov tsvetkov danilov zhuravlev frolov kudryashov ryabov
  evdokimov efimov yermakov evseev dyachkov prokhorov khokhlov shchukin chernyshev yudin zykov gavrilov ignatiev rozhkov
  zuev gordeev muravyov safonov kalashnikov pestov bykov kapustin subbotin nesterov gurev avdeev terentyev bobylyov
  stefka hristina boyka yordan yordanka krasimir zhivko plamen penka tsvetan tsvetelina nedelchev stoyanov hristov
  kiril metodija zoran goce dimitar trajkovski stojanovski jovanovska petrovska nikoloski angelovski gjorgjevski mihajlovska
  krsteva dzambazov zlatko biljana ljupco snezhana blagoja gligorov trpeski ristovski velkovski bogdanovski kocevski
  ljubica ljubomir slavoljub miodrag dragoljub svetlana vojislav zorica jelena mirjana gordana nebojsa sladjana djordje
  tijana nikolina zeljko hrvoje tvrtko domagoj zvonimir kresimir tomislav branimir ljiljana vesela ivkovic jovanovic
  petrovic nikolic markovic djordjevic stojanovski ilic milosevic pavlovic zivkovic kovacevic horvat babic juric novak
  vukovarac knezevic blazevic bozic lovric grgic bosnjak vidakovic perkovic jurkovic hrvatin srdoc vlahovic mandzukic
  brozovic vrsaljko dzeko pjanic begovic hadzic omerovic selimovic husejinovic mujkic bjelica vuk crnogorac
  matjaz ales bostjan primoz rok gregor urska mojca spela tjasa zala krajnc zupancic potocnik kovacic mlakar vidmar
  golob kastelic hribar kotnik turk bizjak rozman jerman petek zagar pirc blatnik oblak zorman pusnik jereb korosec
  lesjak bezjak zajc medved hrovat pecnik javornik mencinger kramberger
  bozena dobroslava kvetoslava borislav branislav drahomira jaroslav ladislav miloslav oldrich ondrej premysl rostislav
  svatopluk vaclav vladimira vojtech zbynek zdenek zdenka jindrich stepanka zajicek novotny svoboda dvorak cerny prochazka
  kucera vesely horak nemec pokorny pospisil hajek jelinek kral ruzicka benes fiala sedlacek dolezal zeman kolar krejci
  blazej zuzka lubomir stanko gejza jozef dusan slavka kovacova horvathova vargova tothova nagyova hudakova
  skrzypek wojciech zbigniew stanislaw krystyna grzegorz przemyslaw slawomir jaroslaw dariusz mariusz lukasz michal jerzy
  boguslaw czeslaw zdzislaw wladyslaw mieczyslaw bronislaw andzelika lucyna bozena wieslawa kazimierz ryszard jacek zenon
  kowalczyk wisniewska dabrowski szymanski kaczmarek zielinski mazur wrobel dudek adamczyk gorski nowicki pawlak walczak
  sobczak chmielewski jaworski sikora ostrowska zajac pietrzak wieczorek gajewski kubiak szczepanski bak kozak krzemien
  gwozdz blaszczyk przybyla skiba cichy zawadzki borkowski rutkowski sadowski szewczyk czarnecki laskowski brzozowski
  anrijs edzus janis juris andris guntis valdis aigars raivis dzintars inese ilze zane liga dace sandra vija
  kalnins ozolins berzins liepins krumins jansons balodis zarins vitols eglitis klavins kalejs dzenis putnins lacis
  jonas mindaugas gediminas vytautas zydrunas kestutis rasa egle jurgita kazlauskas petrauskas zukauskas butkus
  toomas tiit urmas katrin liisi kask saar tamm sepp kuusk mikko jukka pekka timo hannu pitkanen virtanen makinen
  axel oliwer ebbe ebba maja alva elsa nils hjalmar vidar tuva vegard oystein kjell kjeld knut leif arvid egil sverre
  bjerk vegge aas moe lien haug dahl eide bakken strand foged kjeldsen knudsen bruun bech kjaer hjort krogh ravn
  klaas jaap kees henk wouter jeroen joost daan sjoerd tjeerd femke fenna anouk maaike marijke bijl dijk schouten
  kuiper vos hoekman wijnen zwart nijs terlouw heijden leeuwen rooij graaf bruijn wiel maes claes peeters aerts
  ana maxime axelle yann yannick loic gwenael enzo mehdi rayan ilyes jules kylian huguet roux boyer leclercq
  xavi iker unai xabier joseba gorka mikel aitor ainhoa garbine itziar albuquerque queiroz theo isaac xavier wagner
  spyros giorgos vassilis panagiotis charalampos evangelos christos stavroula kyriaki despina theodoros anastasios
  konstantinos papadopoulos papageorgiou georgiou nikolaidis ioannidis karagiannis vlachos kyriazis
  tsipras mitsotakis eftychia xenakis makris katsaros lambropoulos psychogios zografos mpakas
  oguz ozgur ozlem gokhan gokce tugba cigdem sevgi yildiz yilmaz kaya demir sahin celik yildirim ozturk aydin ozdemir
  arslan dogan kilic aslan cetin kara koc kurt ozkan simsek tekin bulut guler gunes aksoy bozkurt turan kaplan keskin
  unal avci coskun guven ceylan yavuz sonmez turgut kocak toprak uysal korkmaz akbulut yalcin altun sari bayraktar
  hatipoglu kilicoglu ekmekcioglu karaoglu tanyeri mutlu pinar selin berk burak cem deniz ece ebru esra filiz
  gul hakan ilker kerem levent melek merve nazli nuray onur pelin sibel sinem songul tolga umit volkan yasin yigit zehra
  bulent cengiz ertugrul ferhat kubilay mukaddes necati nilufer oktay rukiye sukru tuncay ufuk yucel abdulkadir aykut
  baris bahar bilge cagatay dilek duygu emine engin erkan fikret gizem gulcan hulya huseyin ismail kadir kemal mehtap
  muge muslum naciye nesrin orcun recep remzi saadet sedat semih seyfettin sule tarkan taskin turkan ulku vildan
  ilqar elcin rauf kamran vuqar aynur gunel sevinc nigar anar orxan tural emin rasim huseynov
  aliyev mammadov hasanov guliyev ismayilov quliyeva babayev rzayev abbasov safarova
  azamat botir dilshod farrux jahongir jasur javlon nodir odil otabek rustam sardor sherzod ulugbek zafar abdulla
  abduvali abdurahmon dilnoza feruza gulnora guljahon iroda kamola lola madina mohira munisa nargiza ozoda sadoqat
  saodat shahnoza umida zebo ziyoda karimov rahimov sodiqov abdullayev yusupov qodirov ergashev mirzayev rashidov
  toshmatov xolmatov yoldoshev hamidov nazarov qosimov sharipov tursunov usmonov ismoilova rahmatullayeva hoshimov
  nursultan aigerim yerlan gulnara almas bekzat daulet dauren zhanar zhansaya nurlan serik asel kairat kuanysh abayev
  giorgi nino levan tamari zviad irakli mamuka davit besarion vakhtang otar gocha zurab mzia ketevan eteri manana
  khatuna lali medea natia qetevan dzhaba tsotne lasha nodar rezo guram avtandil tariel
  beridze kapanadze gelashvili maisuradze giorgadze lomidze tsiklauri kvaratskhelia shengelia jincharadze mchedlishvili
  kiknadze mamulashvili gogoladze sharashidze chikhladze dolidze khutsishvili pirtskhalava sanikidze
  mzhavanadze tskitishvili zhvania saakashvili ivanishvili shevardnadze gamsakhurdia javakhishvili abashidze
  aram hayk vardan tigran gevorg hovhannes karapet armen narek vahe ashot arshak anahit lusine hripsime nune astghik
  hovhannisyan harutyunyan sargsyan grigoryan petrosyan mkrtchyan hakobyan karapetyan vardanyan khachatryan gasparyan
  simonyan ghazaryan stepanyan avetisyan hovsepyan movsisyan martirosyan abrahamyan
  azad berxwedan baran rojin dilan serhat welat heval jiyan zozan berivan ciwan rizgar
  oluwaseun oluwatobi olufunmilayo olumide adebayo adewale ayodele babajide bolanle ebunoluwa folasade ifeoluwa
  kehinde mojisola ngozi obinna chukwuemeka chinwe nnamdi okafor okonkwo adeyemi adeleke ogunleye balogun afolabi
  akintola olatunji oyelaran temitope titilayo yetunde omotola itunu morenike ogunbanjo akpan ekpo
  sipho thabo nomvula nomfundo nonhlanhla mandla sibusiso thandeka thulani zenzele nkosana ntombi
  lindiwe nokuthula nolwazi mbali busisiwe dlamini nkosi ndlovu mthembu zulu mkhize sithole ngcobo gumede shabalala
  mthethwa cele buthelezi hlongwane msomi zungu mchunu siwele sibiya mabaso wanjiru kamau otieno njoroge mwangi ochieng
  kwame kofi akosua abena yaw mensah boateng asante owusu dlamini haile tesfaye alemayehu bekele abebe getachew
  abdul abdulla abdulrahman abdelaziz mahmoud mostafa khalid saeed saleh yousef zaid faisal fahad hamza bilal jamal
  karim latif nasser omer osama qasim rashid sultan tawfiq usman waleed yahya zainab khadija maryam huda nadia rania
  sumaya mahfuz alhashimi alqahtani alghamdi alshehri almutairi alzahrani elsayed abdallah mansour haddad khoury
  mahdi mehran kourosh dariush siavash bahram shahram parisa niloufar golnaz mahsa zahra sepideh ahmadi hosseini
  mohammadi karimi rezaei moradi jafari ghorbani rostami kazemi yitzhak yehuda shlomo moshe avraham chaim tzvi shimon
  nechama rivka shoshana tzipora mizrahi peretz biton dahan azoulay malka friedman katz levi weiss
  jihye jihyun minjun seojun hyunwoo seungmin yeonu jiwoo haeun sooyoung eunji kyungho dongwook jaehyuk youngjae taeyang
  sanghyun byungchul jeonghun heejin sunghee yejin chaewon gyeong gwang hwan hyeok hyeon jeong jihyeok joonhyeok jweon
  kweon myeong nyeong pyo ryeong seong seol seungri sook wook weon yeong yeol yeon yoon yul rhee ryu choi kwak
  gwon hwangbo namgung bae baek byun ahn cho chung jang jeon joo jung kang kwon moon noh ryoo shin sohn song woo yang
  zhang zhao zhou zhu zhong zhuang zeng zou xie xu xue xiong xiao xia xin xing xuan xun yuan yue yun yin
  ying yong you yu yao yang qian qiang qiao qin qing qiong qiu qu quan que chen chao chang chong chu chuan
  chun cui dai deng ding dong duan fan fang feng fu gan gao ge gong gu guan guang gui guo hai han hao he heng hong
  hou hua huai huan huang hui huo jia jian jiang jiao jie jin jiong jiu ju juan jue kai kang ke kong kuan lan lang
  lei leng liang liao lin ling liu long lou lu luan luo lv meng miao min mo mu nan ning niu pan pang pei peng pu
  ran rao ren rong ru rui ruan run sha shan shang shao shen sheng shi shu shuai shuang shun si song su sun tai tan
  tang tao teng tian tie ting tong tu wan wei wen weng wu yan zai zan ze zhen zhi zi zong zuo jiahui jiaqi jiaxin
  haiyan xuejun pengfei guoqiang guoliang jinpeng congmin yuxuan zihan ziyi
  quynh thuy nguyet khanh bao bich cuong diem dinh duyen giang hien hieu hoa hung huynh khoa kieu lam lan loan mai
  nga nghia nhi nhu nhung oanh phat phong phung quoc quyen sinh son tam thang thinh thu tien tinh trinh truc truong
  tuan tuyen van viet vinh vu xuan yen pham phan truong bui dang duong dao dinh doan trieu
  agus bambang wahyu nurul siti mahmud mahfud widodo suryono hidayat napitupulu
  simanjuntak situmorang hutagalung siregar nasution wijaya santoso hartono setiawan susanto rahayu puspita lestari
  kusuma prasetya mulyani handayani kurniawan maheswara marpaung pratama yolanda zulaika
  dhruv ujjawal giriraj harshad jagdish jyoti kshitij lakshman mukesh nitesh omprakash prakash
  prithvi pushpa rajesh rakesh sachin saurabh shakuntala shweta siddharth subhash tanuja umesh vaibhav vidya yogesh
  bhattacharya chattopadhyay deshpande dwivedi gowda iyengar jha kapoor khatri mehrotra nair namboothiri pillai reddy
  saxena tagore trivedi upadhyay varma adhikari shrestha tamang gurung limbu khadka devkota bhattarai 
  somchai wichai prasert surachai anong malee sirikit niran wattana chaiyaporn thongchai srisai sukhumvit
  leopoldo hektoro ernesto augusto tunc vezir sokol besnik agron shpresa arben fatmir gezim hoxha gjergj krasniqi
  gheorghiu zamfir neamtu munteanu ciobanu ungureanu xenia
  balazs miklos zsofia zsolt dezso jozsef kristof gyorgy szabolcs csaba endre agnes hegedus kovacs szucs deak kozma
  nemeth farkas simon juhasz racz szilagyi gulyas vincze`);

/** RFC 5321 §4.5.3.1.1. Longer text is cut, so that the cost has a bound. */
const LOCAL_LENGTH_MAX = 64;
const BEYOND_ASCII = /[^\p{ASCII}]/u;

/** Returns the local part without its subaddress ("+news", RFC 5233), in lower case, without accents, at most 64 long. */
export const toBareLocal = (local: string): string => {
  const cut = local.slice(0, LOCAL_LENGTH_MAX);
  const folded = BEYOND_ASCII.test(cut) ? cut.normalize("NFD").replaceAll(/\p{M}/gu, "") : cut;
  const plus = folded.indexOf("+");
  return (plus > 0 ? folded.slice(0, plus) : folded).toLowerCase();
};

const LETTERS = 26;
/** The end of a word counts as a letter. */
const EDGE = LETTERS;
const SYMBOLS = LETTERS + 1;

/** The weight of a shorter context where the longer one is rare (Dirichlet smoothing). */
const TRUST = 12;
/** The bits of a letter or digit drawn at random from the 36. */
const BLIND_BITS = Math.log2(36);
/** People write a dot between two words; in random text it would be as rare as a letter. */
const SEPARATOR_BITS = 2;
const SEPARATORS_MAX = 2;
/** A year or a street number at the end is common; names have no digits elsewhere. */
const DIGITS_AT_END_BITS = 1;
const DIGITS_AT_END_MAX = 4;
const DIGITS_ELSEWHERE_BITS = 6;
/** The cost of reading the first letter as an initial; a shorter word leaves too little of a name after it. */
const INITIAL_BITS = 1;
const INITIAL_BEFORE = 4;
/** Characters such as # or = are rare in names. */
const OTHER_CHAR_BITS = 3;
/** This number of saved bits doubles the odds: letters depend on each other, so one bit each would be overconfident. */
const BITS_PER_DOUBLING = 4;

/**
 * Scores how much a local part resembles names and words, 0 to 1; 0.5 when nothing speaks for either side. The score counts how many bits a
 * model of names saves against a model of random letters.
 */
export const scoreNameLikeness = (local: string): number =>
  1 / (1 + 2 ** (-countBitsSaved(toBareLocal(local)) / BITS_PER_DOUBLING));

const PIECES = /[a-z]+|[0-9]+|[._-]|./gsu;

const countBitsSaved = (bare: string): number => {
  let saved = 0;
  let separators = 0;
  for (const { 0: piece, index } of bare.matchAll(PIECES)) {
    if (/^[a-z]/.test(piece)) saved += countWordBits(piece);
    else if (/^[0-9]/.test(piece))
      saved -= getDigitBits(piece, index + piece.length === bare.length);
    else if (/^[._-]/.test(piece))
      saved += BLIND_BITS - (++separators <= SEPARATORS_MAX ? SEPARATOR_BITS : 2 * BLIND_BITS);
    // The model knows no other alphabets, so their letters count for neither side.
    else if (!/^\p{L}/u.test(piece)) saved -= OTHER_CHAR_BITS;
  }
  return saved;
};

const getDigitBits = (digits: string, atEnd: boolean): number =>
  atEnd && digits.length <= DIGITS_AT_END_MAX ? DIGITS_AT_END_BITS : DIGITS_ELSEWHERE_BITS;

/** An initial may be any letter, so it proves nothing, alone or before a name ("jsmith"). */
const countWordBits = (word: string): number => {
  if (word.length === 1) return 0;
  const asInitial =
    word.length > INITIAL_BEFORE ? countSpellingBits(word.slice(1)) - INITIAL_BITS : -Infinity;
  return Math.max(countSpellingBits(word), asInitial);
};

const countSpellingBits = (word: string): number => {
  let saved = word.length * BLIND_BITS;
  visitTrigrams(word, (before, last, letter) => {
    const at = (before * SYMBOLS + last) * SYMBOLS + letter;
    saved += LETTER_BITS[at] ||= Math.log2(estimateShare(before, last, letter));
  });
  return saved;
};

/** Visits every letter of a word with the two before it; the word's edges count as letters. */
const visitTrigrams = (
  word: string,
  visit: (before: number, last: number, letter: number) => void,
): void => {
  let [before, last] = [EDGE, EDGE];
  for (let at = 0; at <= word.length; at++) {
    const letter = at < word.length ? word.charCodeAt(at) - 97 : EDGE;
    visit(before, last, letter);
    before = last;
    last = letter;
  }
};

/** The counts are computed when the module loads: the word lists are the only source, and no generated copy can differ. */
const countLetters = (words: Iterable<string>) => {
  const counts = {
    one: new Int32Array(SYMBOLS),
    two: new Int32Array(SYMBOLS ** 2),
    three: new Int32Array(SYMBOLS ** 3),
    afterOne: new Int32Array(SYMBOLS),
    afterTwo: new Int32Array(SYMBOLS ** 2),
    all: 0,
  };
  for (const word of words)
    visitTrigrams(word, (before, last, letter) => {
      const two = last * SYMBOLS + letter;
      addOne(counts.one, letter);
      addOne(counts.two, two);
      addOne(counts.three, before * SYMBOLS ** 2 + two);
      addOne(counts.afterOne, last);
      addOne(counts.afterTwo, before * SYMBOLS + last);
      counts.all += 1;
    });
  return counts;
};

const addOne = (counts: Int32Array, at: number): void => {
  counts[at] = (counts[at] ?? 0) + 1;
};

const LETTER_COUNTS = countLetters(
  new Set([...GIVEN_NAMES, ...FAMILY_NAMES, ...COMMON_WORDS, ...NAMES_BY_COUNTRY]),
);

/** The logarithm of each share, by its three letters. 0 until it is first needed, and negative from then on. */
const LETTER_BITS = new Float64Array(SYMBOLS ** 3);

/** Estimates how likely a letter follows two others; where that context is rare, the last letter alone counts more. */
const estimateShare = (before: number, last: number, letter: number): number => {
  const two = last * SYMBOLS + letter;
  const alone = smooth(LETTER_COUNTS.one[letter], LETTER_COUNTS.all, 1 / SYMBOLS);
  const afterOne = smooth(LETTER_COUNTS.two[two], LETTER_COUNTS.afterOne[last], alone);
  const context = before * SYMBOLS + last;
  return smooth(
    LETTER_COUNTS.three[before * SYMBOLS ** 2 + two],
    LETTER_COUNTS.afterTwo[context],
    afterOne,
  );
};

const smooth = (count = 0, seen = 0, shorter = 0): number =>
  (count + TRUST * shorter) / (seen + TRUST);
