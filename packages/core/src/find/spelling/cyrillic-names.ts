import type { CyrillicLanguage } from "./cyrillic-letters.ts";

/*
 * Given names with people's own spellings, each with its weight. Dmitry, Alexey and Maxim were counted among authors of
 * open-source software; the other weights are judgements in the same proportions.
 */
const RUSSIAN = `
  александр alexander 64 aleksandr 24 alexandr 12
  александра alexandra 75 aleksandra 25
  алексей alexey 35 aleksey 7 alexei 10 aleksei 5
  алёна alena 65 alyona 35
  алина alina
  алла alla
  анастасия anastasia 75 anastasiya 25
  анатолий anatoly 55 anatoliy 30 anatolii 15
  андрей andrey 65 andrei 35
  анна anna
  антон anton
  аркадий arkady 60 arkadiy 25 arkadii 15
  артём artem 75 artyom 25
  артем artem 80 artyom 20
  борис boris
  вадим vadim
  валентин valentin
  валентина valentina
  валерий valery 55 valeriy 30 valerii 15
  валерия valeria 65 valeriya 35
  василий vasily 50 vasiliy 32 vasilii 18
  вера vera
  виктор victor 52 viktor 48
  виктория victoria 60 viktoria 25 viktoriya 15
  виталий vitaly 50 vitaliy 36 vitalii 14
  владимир vladimir
  владислав vladislav
  вячеслав vyacheslav 65 viacheslav 35
  галина galina
  геннадий gennady 60 gennadiy 28 gennadii 12
  георгий georgy 50 georgiy 25 george 15 georgii 10
  герман german
  глеб gleb
  григорий grigory 55 grigoriy 27 grigorii 18
  даниил daniil 70 daniel 20 danil 10
  данила danila
  дарья daria 60 darya 30 dariya 10
  денис denis
  дмитрий dmitry 44 dmitriy 13 dmitrii 7 dmitri 6
  евгений evgeny 45 evgeniy 22 evgenii 12 eugene 14 yevgeny 7
  евгения evgenia 60 evgeniya 40
  егор egor 85 yegor 15
  екатерина ekaterina 80 katerina 12 catherine 8
  елена elena 90 helen 10
  елизавета elizaveta 90 elizabeth 10
  ефим efim 80 yefim 20
  жанна zhanna 80 janna 20
  иван ivan
  игорь igor
  илья ilya 80 ilia 20
  инна inna
  ирина irina
  кирилл kirill 90 kiril 10
  константин konstantin 94 constantine 6
  ксения ksenia 60 kseniya 25 xenia 15
  лариса larisa
  лев lev 90 leo 10
  леонид leonid
  лидия lidia 65 lidiya 35
  любовь lyubov 65 liubov 35
  людмила lyudmila 50 ludmila 35 liudmila 15
  максим maxim 23 maksim 9
  маргарита margarita
  марина marina
  мария maria 80 mariya 12 mariia 8
  михаил mikhail 85 michael 10 mihail 5
  надежда nadezhda 88 nadejda 12
  наталия natalia 70 nataliya 30
  наталья natalia 50 natalya 35 nataly 15
  никита nikita
  николай nikolay 62 nikolai 38
  оксана oksana 80 oxana 20
  олег oleg
  ольга olga
  павел pavel 95 paul 5
  пётр petr 70 pyotr 15 peter 15
  петр petr 75 peter 15 pyotr 10
  полина polina
  роман roman
  руслан ruslan
  светлана svetlana
  святослав svyatoslav 60 sviatoslav 40
  семён semyon 50 semen 50
  семен semen 65 semyon 35
  сергей sergey 68 sergei 30 serge 2
  софия sofia 75 sofiya 25
  софья sofia 60 sofya 40
  станислав stanislav
  степан stepan
  тамара tamara
  татьяна tatiana 60 tatyana 40
  тимофей timofey 70 timofei 30
  тимур timur
  фёдор fedor 65 fyodor 35
  федор fedor 75 fyodor 25
  филипп philipp 45 filipp 40 philip 15
  эдуард eduard 90 edward 10
  юлия julia 42 yulia 38 yuliya 14 iuliia 6
  юрий yury 38 yuri 36 yuriy 20 iurii 6
  яков yakov 85 iakov 15
  яна yana 90 iana 10
  ярослав yaroslav 85 iaroslav 15
`;

const UKRAINIAN = `
  анастасія anastasiia 45 anastasia 40 anastasiya 15
  анатолій anatolii 50 anatoliy 35 anatoly 15
  андрій andrii 45 andriy 40 andrew 8 andrey 7
  антон anton
  артем artem
  богдан bohdan 65 bogdan 35
  валентина valentyna
  валерій valerii 50 valeriy 40 valery 10
  василь vasyl
  вікторія viktoriia 40 viktoria 25 victoria 35
  віктор viktor 60 victor 40
  віталій vitalii 45 vitaliy 40 vitaly 15
  владислав vladyslav 75 vladislav 25
  володимир volodymyr 85 vladimir 10 volodimir 5
  вячеслав viacheslav 55 vyacheslav 45
  галина halyna 75 galyna 25
  ганна hanna 75 anna 25
  геннадій hennadii 40 gennadiy 35 gennady 25
  григорій hryhorii 50 hryhoriy 35 grygoriy 15
  данило danylo
  дарина daryna
  денис denys 75 denis 25
  дмитро dmytro 90 dmitry 10
  євген yevhen 45 yevgen 20 eugene 15 evgen 12 ievgen 8
  євгенія yevheniia 50 yevhenia 30 evgenia 20
  іван ivan
  ігор ihor 65 igor 35
  ілля illia 65 illya 35
  ірина iryna 80 irina 20
  катерина kateryna 85 katerina 15
  кирило kyrylo
  костянтин kostiantyn 60 kostyantyn 30 konstantin 10
  лариса larysa 75 larisa 25
  леонід leonid
  людмила liudmyla 50 lyudmyla 40 ludmila 10
  максим maksym 65 maxim 20 maxym 15
  марина maryna 80 marina 20
  марія mariia 55 maria 45
  микита mykyta
  микола mykola 88 nikolay 12
  михайло mykhailo 60 mykhaylo 32 michael 8
  надія nadiia 50 nadiya 30 nadia 20
  назар nazar
  наталія nataliia 45 natalia 35 nataliya 20
  олег oleh 55 oleg 45
  олександр oleksandr 72 alexander 16 olexandr 8 aleksandr 4
  олександра oleksandra 80 alexandra 20
  олексій oleksii 52 oleksiy 38 alexey 10
  олена olena 85 elena 15
  ольга olha 60 olga 40
  остап ostap
  павло pavlo
  петро petro
  роман roman
  руслан ruslan
  світлана svitlana 85 svetlana 15
  сергій serhii 45 serhiy 25 sergiy 16 sergii 14
  станіслав stanislav
  тарас taras
  тетяна tetiana 60 tetyana 30 tatiana 10
  федір fedir
  юлія yuliia 40 yulia 30 julia 20 yuliya 10
  юрій yurii 45 yuriy 40 yuri 10 iurii 5
  яна yana
  ярослав yaroslav
`;

const BELARUSIAN = `
  аляксандр aliaksandr 70 alexander 25 alaksandr 5
  аляксей aliaksei 70 alexey 20 aliaksey 10
  андрэй andrei 70 andrey 30
  антон anton
  вольга volha 75 olga 25
  віктар viktar 80 victor 20
  вікторыя viktoryia 80 victoria 20
  ганна hanna 75 anna 25
  дзмітрый dzmitry 75 dmitry 20 dzmitryi 5
  ігар ihar 75 igor 25
  ірына iryna 80 irina 20
  кацярына katsiaryna 75 ekaterina 25
  максім maksim 65 maxim 25 maksym 10
  марыя maryia 75 maria 25
  мікалай mikalai 75 nikolay 15 mikalay 10
  міхаіл mikhail 85 mihail 15
  наталля natallia 75 natalia 25
  павел pavel
  пётр piotr 80 petr 20
  сяргей siarhei 72 sergey 20 siarhey 8
  таццяна tatsiana 75 tatiana 25
  уладзімір uladzimir 75 vladimir 25
  юлія yuliya 60 yulia 20 julia 20
  юрый yury 90 yuri 10
  яўген yauhen 60 evgeny 25 yauheni 15
  яўгеній yauheni 65 evgeny 30 yauheniy 5
`;

const BULGARIAN = `
  александър alexander 55 aleksandar 38 alexandar 7
  ангел angel
  божидар bozhidar
  борислав borislav
  васил vasil 85 vassil 15
  веселин veselin 85 vesselin 15
  георги georgi 93 george 7
  гергана gergana
  димитър dimitar 88 dimitur 12
  десислава desislava 85 dessislava 15
  иван ivan
  ивайло ivaylo 60 ivailo 40
  красимир krasimir 85 krassimir 15
  любомир lyubomir 65 lubomir 35
  мария maria 70 mariya 30
  мартин martin
  милен milen
  николай nikolay 72 nikolai 28
  пламен plamen
  петър petar 82 peter 13 petur 5
  росен rosen 85 rossen 15
  светослав svetoslav
  стефан stefan
  стоян stoyan
  тодор todor
  цветан tsvetan 70 tzvetan 30
  христо hristo 88 christo 12
  юлия yulia 60 julia 20 yuliya 20
  явор yavor
`;

const SERBIAN = `
  александар aleksandar 92 alexander 8
  душан dusan
  филип filip
  ђорђе djordje 75 dorde 25
  јован jovan
  марко marko
  милош milos
  никола nikola
  стефан stefan
`;

const MACEDONIAN = `
  александар aleksandar 90 alexander 10
  ѓорѓи gjorgji 45 gorgi 30 gjorgi 25
  ѓорги gjorgi 70 gorgi 30
  никола nikola
`;

export const CYRILLIC_NAMES: Readonly<Record<CyrillicLanguage, string>> = {
  ru: RUSSIAN,
  uk: UKRAINIAN,
  be: BELARUSIAN,
  bg: BULGARIAN,
  sr: SERBIAN,
  mk: MACEDONIAN,
};
