/**
 * Names of the generated population, as their owners write them, with the ways they stand in addresses. Written from
 * passports, sports results and credits of films, and not from the finder's tables: these must find them.
 */

/** `typed written share written share`; a name in plain letters alone is written as it is typed. */
export type PopulationName = {
  readonly typed: string;
  readonly written: readonly (readonly [string, number])[];
};

const parse = (text: string): readonly PopulationName[] =>
  text
    .trim()
    .split(/\s*[;\n]\s*/)
    .filter(Boolean)
    .map((row) => {
      const [typed = "", ways = ""] = row.split(/\s*=\s*/);
      const words = ways.split(/\s+/).filter(Boolean);
      const written = words.flatMap((word, at) =>
        at % 2 === 0 ? [[word, Number(words[at + 1] ?? 1)] as const] : [],
      );
      return { typed, written: written.length > 0 ? written : [[typed.toLowerCase(), 1]] };
    });

const plain = (text: string): readonly PopulationName[] =>
  parse(text.trim().split(/\s+/).join(";"));

export type NamePool = {
  readonly share: number;
  readonly given: readonly PopulationName[];
  readonly family: readonly PopulationName[];
  /** Most people have a name that few others have: these are put together from a beginning and an end. */
  readonly rare?: readonly [beginnings: string, ends: string];
};

const ENGLISH: NamePool = {
  share: 44,
  given:
    plain(`James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew
    Anthony Mark Steven Paul Andrew Joshua Kenneth Kevin Brian George Edward Ronald Timothy Jason Jeffrey Ryan Jacob
    Gary Nicholas Eric Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel Gregory Frank Patrick Jack Dennis
    Tyler Aaron Adam Nathan Peter Zachary Kyle Mary Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Nancy
    Lisa Margaret Sandra Ashley Emily Michelle Amanda Melissa Rebecca Laura Stephanie Amy Rachel Heather Megan Dan Mike
    Chris Nick Tom Matt Alex Ben Sam Greg Jeff Jon Josh Dave Steve Tim Kate Jen Liz`),
  family:
    plain(`Smith Johnson Williams Brown Jones Miller Davis Wilson Anderson Taylor Moore Jackson Martin Lee
    Thompson White Harris Clark Lewis Robinson Walker Young Allen King Wright Scott Hill Green Adams Nelson Baker Hall
    Campbell Mitchell Carter Roberts Phillips Evans Turner Parker Collins Edwards Stewart Morris Murphy Cook Rogers
    Morgan Cooper Peterson Reed Bailey Kelly Howard Ward Cox Richardson Wood Watson Brooks Bennett Gray Hughes Price
    Myers Long Foster Sanders Ross Powell Sullivan Russell Jenkins Perry Butler Barnes Fisher Henderson Coleman Simmons
    Patterson Jordan Reynolds Hamilton Graham Wallace Cole West Stone Hayes Gibson Ellis Harrison Ford Marshall Owens
    McDonald Wells Woods Kennedy Warren Porter Hunter Hicks Crawford Henry Boyd Mason Dixon Hunt Palmer Nichols Grant
    Knight Ferguson Stephens Lawson Whitehead Featherstone Blackwood Lindqvist Abernathy Vanderpool Haverford`),
  rare: [
    "Ash Bram Brad Clay Cran Dun Eck Farn Gar Had Hol Hunt Kin Lang Mar Nor Old Pem Rad Sher Stan Thorn Wal Whit Win Wol Yar Bex",
    "ford ley ton wood man son by well more field brook hurst worth den wick dale low combe ridge shaw burn stead croft gate",
  ],
};

const INDIAN: NamePool = {
  share: 9,
  given:
    plain(`Amit Rahul Sanjay Vijay Anil Suresh Rajesh Deepak Vikram Arjun Priya Anjali Neha Pooja Kavita Divya
    Ravi Kiran Manoj Ashok Sandeep Nitin Gaurav Vivek Abhishek Karthik Srinivas Lakshmi Swati Shruti`),
  family:
    plain(`Sharma Gupta Singh Kumar Patel Reddy Rao Iyer Nair Mehta Joshi Desai Agarwal Mishra Pandey Verma
    Banerjee Mukherjee Krishnan Subramanian Venkataraman Chakraborty Kulkarni Deshpande Bhat Hegde`),
};

const CHINESE_LATIN: NamePool = {
  share: 8,
  given:
    plain(`Wei Jing Fang Lei Jun Yan Xin Ming Hui Ying Tao Bo Feng Xiaoming Zhiqiang Jianguo Xiaoli Haitao Yifan
    Zhenyu Jiawei Peng Kai Hao Yuan`),
  family:
    plain(`Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo He Lin Gao Luo Zheng Liang Xie
    Tang Feng Deng Cao Peng Zeng Xiao Tian Dong Pan Yuan Cai Jiang`),
};

const GERMAN: NamePool = {
  share: 9,
  given: [
    ...plain(`Hans Peter Wolfgang Klaus Thomas Markus Stefan Andreas Florian Sebastian Lukas Jonas Tobias Sabine
      Petra Katrin Anja Martin Michael Daniel Christian Matthias Philipp Jan Felix Holger Uwe Ralf Frank`),
    ...parse(`Jürgen=juergen 7 jurgen 3; Jörg=joerg 7 jorg 3; Björn=bjoern 6 bjorn 4; Günter=guenter 7 gunter 3
      Hans-Peter=hans-peter 5 hanspeter 3 hans 2; Karl-Heinz=karl-heinz 5 karlheinz 4 karl 1`),
  ],
  family: [
    ...plain(`Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Koch Bauer Richter Klein Wolf
      Neumann Schwarz Zimmermann Braun Hofmann Hartmann Lange Werner Krause Lehmann Gruber Huber`),
    ...parse(`Müller=mueller 72 muller 28; Schäfer=schaefer 75 schafer 25; Krüger=krueger 75 kruger 25
      Köhler=koehler 72 kohler 28; Böhm=boehm 70 bohm 30; Weiß=weiss 98 weis 2; Großmann=grossmann 1
      von Braun=vonbraun 5 braun 2 von.braun 2 von-braun 1; Müller-Schmidt=mueller-schmidt 6 mueller 3 muellerschmidt 1`),
  ],
  rare: [
    "Eich Lind Stein Rosen Birken Hohen Nieder Ober Wies Grün Alt Neu Bruck Kirch Buch Falken Adler Schön Kalten Lichten",
    "berg feld bach mann hausen thal hofer dorfer wald stein bauer meier holz inger ner brandt",
  ],
};

const FRENCH: NamePool = {
  share: 5,
  given: [
    ...plain(`Jean Pierre Michel Philippe Alain Nicolas Christophe Laurent Olivier Julien Guillaume Antoine Camille
      Sophie Isabelle Nathalie Sylvie Vincent Thierry Benoit`),
    ...parse(`François=francois 1; Jérôme=jerome 1; Stéphane=stephane 1; Céline=celine 1; Aurélie=aurelie 1
      Jean-Luc=jean-luc 60 jeanluc 25 jean 15; Jean-Pierre=jean-pierre 60 jeanpierre 25 jp 15
      Pierre-Yves=pierre-yves 65 pierreyves 25 py 10; Marie-Claire=marie-claire 60 marieclaire 25 marie 15
      Anne-Sophie=anne-sophie 65 annesophie 25 anne 10; Jean-Baptiste=jean-baptiste 65 jeanbaptiste 20 jb 15`),
  ],
  family: [
    ...plain(`Martin Bernard Dubois Durand Moreau Laurent Simon Michel Lefebvre Leroy Roux Fournier Girard Bonnet
      Dupont Lambert Fontaine Rousseau Vincent Muller Faure Mercier Blanc Guerin Boyer Garnier Chevalier`),
    ...parse(`Lefèvre=lefevre 1; Béranger=beranger 1; Lévêque=leveque 1; de la Tour=delatour 65 de-la-tour 20 latour 15
      Le Gall=legall 85 le-gall 15; D'Arcy=darcy 1`),
  ],
  rare: [
    "Beau Bel Bois Char Clair Fon Gran Haut Mar Mont Pre Roche Val Ville Cler",
    "court mont neuf pont val rand lain tier nier vert dieu get",
  ],
};

const NORDIC_DUTCH: NamePool = {
  share: 7,
  given: [
    ...plain(`Lars Nils Erik Johan Magnus Mats Anders Henrik Karin Ingrid Linus Jan Pieter Willem Joost Bram Daan Sander
      Kari Ola Mikko Jukka Timo Antti Mikael`),
    ...parse(`Søren=soren 60 soeren 40; Jørgen=jorgen 60 joergen 40; Åsa=asa 85 aasa 15; Göran=goran 88 goeran 12
      Bjørn=bjorn 70 bjoern 30; Håkon=hakon 70 haakon 30; Jöran=joran 85 joeran 15`),
  ],
  family: [
    ...plain(`Hansen Johansen Olsen Larsen Andersen Pedersen Nilsen Jensen Johansson Andersson Karlsson Nilsson Eriksson
      Bakker Visser Smit Meijer Mulder Jansen Dekker Virtanen Korhonen Nieminen Torvald Lindberg`),
    ...parse(`Sjöberg=sjoberg 90 sjoeberg 10; Østergaard=ostergaard 65 oestergaard 35; Mäkinen=makinen 92 maekinen 8
      Strømberg=stromberg 70 stroemberg 30; van der Berg=vanderberg 52 van.der.berg 14 van_der_berg 9 van-der-berg 8 vdberg 7 berg 10
      van Dijk=vandijk 62 van.dijk 16 van_dijk 7 van-dijk 6 dijk 9; de Vries=devries 70 de.vries 14 de_vries 6 vries 10
      van den Heuvel=vandenheuvel 60 van.den.heuvel 18 van_den_heuvel 8 heuvel 14`),
  ],
};

const LATIN_EUROPE: NamePool = {
  share: 7,
  given: [
    ...plain(`Marco Luca Andrea Matteo Alessandro Francesco Davide Paolo Giulia Carlos Javier Miguel Pablo Luis Diego
      Fernando Jorge Sergio Ana Carmen Elena Marta Paulo Rui Bruno Rafael Ricardo Pedro`),
    ...parse(`José=jose 1; Raúl=raul 1; Ángel=angel 1; João=joao 1; Íñigo=inigo 1; María José=maria 40 mariajose 30 maria.jose 12 maria-jose 8 mjose 10
      Juan Carlos=juan 40 juancarlos 32 juan.carlos 14 jc 14; Anna Maria=anna 60 annamaria 28 anna.maria 12`),
  ],
  family: [
    ...plain(`Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Conti Costa Silva Santos Oliveira
      Souza Pereira Ferreira Alves Ribeiro Carvalho Almeida Lopes Torres Ramos Molina Ortega Castro`),
    ...parse(`García=garcia 1; Martínez=martinez 1; López=lopez 1; Núñez=nunez 1; Gonçalves=goncalves 1; Muñoz=munoz 1
      García López=garcia 52 garcialopez 18 garcia.lopez 10 garcia-lopez 10 lopez 10
      Fernández Ruiz=fernandez 55 fernandezruiz 18 fernandez.ruiz 10 fernandez-ruiz 8 ruiz 9
      da Silva=dasilva 70 silva 22 da.silva 8; Di Stefano=distefano 92 di.stefano 8; Dell'Acqua=dellacqua 1`),
  ],
  rare: [
    "Bal Cam Del Fer Gal Man Mon Pas Sal Tor Val Ven Zan Ber Cor",
    "anti etti ini elli ardo ares ucci osa ovar onte aldi ieri era",
  ],
};

const SLAVIC_LATIN: NamePool = {
  share: 6,
  given: [
    ...plain(`Piotr Krzysztof Andrzej Tomasz Marcin Jakub Jan Petr Jiri Martin Dmitry Sergey Alexey Andrey Maxim Ivan
      Mikhail Oleg Igor Pavel Roman Olga Anna Marek Milan Vladimir Dmitriy Yury Alexander Oleksandr`),
    ...parse(
      `Paweł=pawel 1; Łukasz=lukasz 1; Jiří=jiri 1; Michał=michal 1; Tomáš=tomas 1; Miloš=milos 1; Jürgen=jurgen 1`,
    ),
  ],
  family: [
    ...plain(`Nowak Kowalski Kaminski Lewandowski Novak Svoboda Dvorak Horvat Ivanov Petrov Smirnov Kuznetsov Popov Volkov
      Sokolov Kozlov Morozov Fedorov Zaitsev Orlov Shevchenko Kovalenko Bondarenko Melnyk`),
    ...parse(`Wiśniewski=wisniewski 1; Wójcik=wojcik 1; Dąbrowski=dabrowski 1; Černý=cerny 1; Dvořák=dvorak 1; Šimić=simic 1
      Đorđević=djordjevic 60 dordevic 40; Žukauskas=zukauskas 1; Szabó=szabo 1; Kovács=kovacs 1`),
  ],
  rare: [
    "Bar Cher Dan Gor Kal Kras Mal Nov Ost Pod Rog Sad Stan Tar Zar Wit Zal",
    "owski icki enko ov in anov ak ek ik insky uk ych",
  ],
};

const RUSSIAN_CYRILLIC: NamePool = {
  share: 2.2,
  given: parse(`
    Дмитрий=dmitry 44 dmitriy 13 dmitrii 6 dmitri 5 dima 3; Алексей=alexey 35 aleksey 7 alexei 8 aleksei 4 alex 3
    Максим=maxim 23 maksim 9 max 2; Александр=alexander 30 aleksandr 12 alexandr 6 alex 5; Сергей=sergey 40 sergei 16
    Андрей=andrey 38 andrei 18; Евгений=evgeny 18 evgeniy 11 evgenii 5 eugene 8 yevgeny 2; Юрий=yury 12 yuri 11 yuriy 7 iurii 2
    Николай=nikolay 16 nikolai 9 nick 1; Михаил=mikhail 28 michael 4 mihail 2; Владимир=vladimir 30 vlad 1; Павел=pavel 26 paul 1
    Иван=ivan 1; Игорь=igor 1; Илья=ilya 16 ilia 3; Антон=anton 1; Роман=roman 1; Кирилл=kirill 20 kyrill 1
    Константин=konstantin 20 constantine 1; Виталий=vitaly 9 vitaliy 8 vitalii 2; Вячеслав=vyacheslav 9 viacheslav 4 slava 1
    Юлия=julia 12 yulia 11 yuliya 3 iuliia 2; Татьяна=tatiana 9 tatyana 6; Наталья=natalia 9 natalya 6 natalie 1; Ольга=olga 1
    Екатерина=ekaterina 18 katerina 2 catherine 1; Анна=anna 1; Артём=artem 16 artyom 5; Григорий=grigory 6 grigoriy 4 grigorii 1
  `),
  family: parse(`
    Иванов=ivanov 1; Петров=petrov 1; Смирнов=smirnov 1; Кузнецов=kuznetsov 24 kuznecov 2; Соколов=sokolov 1; Попов=popov 1
    Лебедев=lebedev 1; Козлов=kozlov 1; Новиков=novikov 1; Морозов=morozov 1; Волков=volkov 1; Соловьёв=soloviev 5 solovyev 5 solovyov 3 solovev 2
    Васильев=vasiliev 7 vasilyev 6 vasilev 3; Зайцев=zaitsev 8 zaytsev 5; Яковлев=yakovlev 12 iakovlev 2; Григорьев=grigoriev 6 grigoryev 5 grigorev 2
    Чайковский=chaikovsky 3 tchaikovsky 3 chaykovskiy 2 chaykovsky 2; Щербаков=shcherbakov 7 scherbakov 5; Жуков=zhukov 16 jukov 1
    Хохлов=khokhlov 8 hohlov 2; Цветков=tsvetkov 14 cvetkov 1; Толстой=tolstoy 5 tolstoi 3; Островский=ostrovsky 6 ostrovskiy 5 ostrovskii 1
    Мельников=melnikov 1; Юдин=yudin 9 iudin 1; Фёдоров=fedorov 12 fyodorov 1; Ерёменко=eremenko 6 yeremenko 3; Алексеев=alekseev 6 alexeev 4 alekseyev 1
    Никитина=nikitina 1; Орлова=orlova 1; Белая=belaya 3 belaia 1
  `),
};

const UKRAINIAN_CYRILLIC: NamePool = {
  share: 0.9,
  given: parse(`
    Володимир=volodymyr 18 vladimir 2; Олександр=oleksandr 20 alexander 5 olexandr 2; Андрій=andrii 10 andriy 10 andrey 2
    Сергій=serhii 9 serhiy 6 sergii 4 sergiy 4; Дмитро=dmytro 20 dmitry 2; Михайло=mykhailo 8 mykhaylo 4 mykhaylo 1; Олег=oleh 7 oleg 7
    Ігор=ihor 9 igor 5; Юрій=yurii 8 yuriy 7 yuri 2; Микола=mykola 12 nikolay 1; Олена=olena 12 elena 1; Тетяна=tetiana 8 tetyana 4
    Ірина=iryna 12 irina 3; Наталія=nataliia 5 natalia 5 nataliya 3; Богдан=bohdan 9 bogdan 5; Тарас=taras 1
  `),
  family: parse(`
    Шевченко=shevchenko 1; Коваленко=kovalenko 1; Бондаренко=bondarenko 1; Мельник=melnyk 10 melnik 3; Гриценко=hrytsenko 7 grytsenko 3
    Кравчук=kravchuk 1; Лисенко=lysenko 9 lisenko 1; Савченко=savchenko 1; Ткачук=tkachuk 1; Гончаренко=honcharenko 6 goncharenko 4
    Зеленський=zelenskyi 4 zelenskyy 3 zelensky 4 zelenskiy 2; Яценко=yatsenko 9 iatsenko 1; Павлюк=pavliuk 6 pavlyuk 5; Іваненко=ivanenko 1
  `),
};

const OTHER_CYRILLIC: NamePool = {
  share: 0.6,
  given: parse(`
    Георги=georgi 10 george 1; Димитър=dimitar 9 dimitur 1; Христо=hristo 9 christo 1; Пламен=plamen 1; Цветан=tsvetan 6 tzvetan 2
    Ђорђе=djordje 6 dorde 2; Милош=milos 1; Зоран=zoran 1; Аляксандр=aliaksandr 8 alexander 2; Сяргей=siarhei 8 sergey 2
  `),
  family: parse(`
    Димитров=dimitrov 1; Георгиев=georgiev 1; Ангелов=angelov 1; Петковић=petkovic 1; Јовановић=jovanovic 1; Станковић=stankovic 1
    Йорданов=yordanov 8 jordanov 2; Лукашэвіч=lukashevich 1; Быкаў=bykau 4 bykaw 1
  `),
};

const GREEK_AND_NEIGHBOURS: NamePool = {
  share: 0.4,
  given:
    parse(`Γιώργος=giorgos 6 george 4 yiorgos 1; Νίκος=nikos 8 nick 1; Ελένη=eleni 1; Δημήτρης=dimitris 8 dimitrios 1; Παύλος=pavlos 1
    Ευάγγελος=evangelos 8 vangelis 1; Հայկ=hayk 6 haik 2; Արմեն=armen 1; Անի=ani 1; გიორგი=giorgi 8 george 1; ნინო=nino 1; დავით=davit 5 david 3`),
  family:
    parse(`Παπαδόπουλος=papadopoulos 1; Γεωργίου=georgiou 1; Βλάχος=vlachos 8 vlahos 1; Αντωνίου=antoniou 1; Χατζής=chatzis 6 hatzis 3
    Պետրոսյան=petrosyan 9 petrosian 1; Գրիգորյան=grigoryan 9 grigorian 1; კვარაცხელია=kvaratskhelia 1; ბერიძე=beridze 1`),
};

const EAST_ASIAN: NamePool = {
  share: 0.9,
  given:
    parse(`민준=minjun 12 min-jun 3 mj 2; 지훈=jihoon 9 jihun 4 ji-hoon 2; 서연=seoyeon 9 seo-yeon 1; 영수=youngsoo 5 youngsu 3 yeongsu 2; 현우=hyunwoo 10 hyeonwoo 3
    伟=wei 1; 小明=xiaoming 9 xiao-ming 1; 芳=fang 1; 志强=zhiqiang 1; 丽=li 1; 建国=jianguo 1; 静怡=jingyi 1; 浩然=haoran 1`),
  family: parse(
    `王=wang 1; 李=li 9 lee 1; 张=zhang 1; 刘=liu 1; 陈=chen 1; 赵=zhao 1; 曾=zeng 1; 吕=lu 4 lv 5 lyu 2; 周=zhou 1; 徐=xu 1; 單=shan 1`,
  ),
};

const KOREAN: NamePool = {
  share: 0.5,
  given: EAST_ASIAN.given.filter(({ typed }) => /\p{Script=Hangul}/u.test(typed)),
  family: parse(
    `김=kim 30 gim 1; 이=lee 26 yi 3 rhee 1; 박=park 28 pak 1; 최=choi 20 choe 1; 정=jung 9 jeong 6 chung 3; 강=kang 1; 조=cho 9 jo 3; 윤=yoon 8 yun 4; 임=lim 7 im 3; 신=shin 1`,
  ),
};

const JAPANESE: NamePool = {
  share: 0.5,
  given: parse(
    `たろう=taro 8 tarou 1; ゆうき=yuki 8 yuuki 2; はなこ=hanako 1; ケンタ=kenta 1; しょうた=shota 8 shouta 2; 大輔=daisuke 1; 直樹=naoki 1; 陽子=yoko 8 youko 1; さくら=sakura 1`,
  ),
  family: parse(
    `佐藤=sato 9 satoh 1; 鈴木=suzuki 1; 田中=tanaka 1; たかはし=takahashi 1; 井上=inoue 1; 大野=ono 6 ohno 4; 小林=kobayashi 1; いとう=ito 8 itoh 1; ワタナベ=watanabe 1`,
  ),
};

const INDIC: NamePool = {
  share: 0.3,
  given: parse(
    `राहुल=rahul 1; प्रिया=priya 1; विकास=vikas 1; सुनील=sunil 8 suneel 1; अनिल=anil 1; दीपक=deepak 7 dipak 4; पूजा=pooja 6 puja 5`,
  ),
  family: parse(
    `शर्मा=sharma 1; सिंह=singh 1; गुप्ता=gupta 1; कुमार=kumar 1; वर्मा=verma 6 varma 4; देशपांडे=deshpande 1; मिश्रा=mishra 1`,
  ),
};

const UNREAD: NamePool = {
  share: 0.2,
  given: parse(`محمد=mohamed 1; علي=ali 1; יוסף=yosef 1; สมชาย=somchai 1`),
  family: parse(`حسن=hassan 1; כהן=cohen 1; خان=khan 1; ใจดี=jaidee 1`),
};

export const NAME_POOLS: readonly NamePool[] = [
  ENGLISH,
  INDIAN,
  CHINESE_LATIN,
  GERMAN,
  FRENCH,
  NORDIC_DUTCH,
  LATIN_EUROPE,
  SLAVIC_LATIN,
  RUSSIAN_CYRILLIC,
  UKRAINIAN_CYRILLIC,
  OTHER_CYRILLIC,
  GREEK_AND_NEIGHBOURS,
  { ...EAST_ASIAN, given: EAST_ASIAN.given.filter(({ typed }) => /\p{Script=Han}/u.test(typed)) },
  KOREAN,
  JAPANESE,
  INDIC,
  UNREAD,
];

/** How people are called at work: of everybody with such a name, a few have an address of it. */
export const SHORT_NAMES: ReadonlyMap<string, string> = new Map(
  `michael mike;robert rob;william bill;david dave;daniel dan;matthew matt;christopher chris;joseph joe;thomas tom
  nicholas nick;benjamin ben;samuel sam;gregory greg;jeffrey jeff;jonathan jon;joshua josh;stephen steve;steven steve
  timothy tim;elizabeth liz;jennifer jen;rebecca becky;kenneth ken;anthony tony;andrew andy;edward ed;alexander alex
  vladimir vlad;nikolaos nikos;sebastian seb;philipp phil;stefan steff;katrin kati;francisco paco;jose pepe`
    .split(/[;\n]\s*/)
    .map((row) => row.split(" ") as [string, string]),
);
