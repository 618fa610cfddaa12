/**
 * The words from which the spelling model learns, besides `name-likeness.ts`: given names, family names and words of local parts,
 * written by hand for this project from common knowledge and folded to a-z. They are also the only known names. No third-party list was
 * copied, so no licence applies, and no name has a gender.
 */

export const splitWords = (text: string): readonly string[] =>
  text.split(/\s+/).filter((word) => word !== "");

export const GIVEN_NAMES: readonly string[] = splitWords(`
  james john robert michael william david richard joseph thomas charles chris christopher daniel matthew
  anthony mark steven steve paul andrew andy joshua ken kevin brian george edward ron tim timothy jason jeff
  ryan jacob gary nick nicholas eric jon jonathan stephen larry justin scott brandon ben benjamin sam samuel
  greg frank alex alexander ray patrick jack dennis jerry tyler aaron adam henry doug nathan peter zach kyle
  walter harold ethan carl arthur roger keith jeremy terry lawrence sean austin joe noah jesse albert billy
  bruce willie jordan dylan alan ralph gabriel roy juan wayne eugene logan louis russell vincent philip bobby
  johnny bradley mary patricia jennifer jen linda elizabeth liz barbara susan jessica sarah karen nancy lisa
  betty margaret sandra ashley kim kimberly emily donna michelle carol amanda melissa deborah stephanie
  rebecca laura sharon cynthia kathleen kate amy angela anna ann anne brenda pamela emma nicole helen samantha
  katherine christine rachel carolyn janet catherine maria heather diane olivia julie joyce victoria kelly
  christina joan evelyn lauren judith megan andrea cheryl hannah jacqueline martha gloria teresa sara janice
  marie julia grace judy theresa beverly denise amber danielle rose brittany diana abigail natalie jane lucy
  hans peter wolfgang klaus juergen dieter manfred uwe heinz horst stefan thomas markus sabine monika petra
  ursula heike silke anja birgit katrin lukas felix jonas tobias florian sebastian jan lars sven nils bjorn
  anders erik johan magnus mats karin ingrid astrid kirsten henrik soren jens mette lise kari ola per
  jean pierre michel philippe alain nicolas christophe laurent olivier francois julien guillaume mathieu
  antoine camille chloe manon sophie isabelle nathalie sylvie valerie celine aurelie pauline marc luc
  jose antonio manuel francisco carlos javier miguel angel alejandro pedro pablo luis diego fernando jorge
  alberto sergio raul carmen ana isabel dolores pilar lucia elena marta cristina paula rosa mercedes
  joao paulo rui nuno tiago ricardo bruno rafael gustavo thiago leticia mariana beatriz fernanda camila
  giuseppe giovanni marco luca andrea matteo alessandro francesco davide simone chiara giulia francesca
  silvia elisa valentina paola giorgio stefano roberto piotr krzysztof andrzej tomasz pawel marcin
  agnieszka katarzyna malgorzata magda ewa zofia jakub jiri pavel tomas jana lenka zuzana istvan laszlo
  zoltan katalin ion andrei mihai ioana dragan milan jovana ivan dmitri sergey alexei vladimir nikolai olga
  natasha tatiana svetlana irina yuri oleg igor anastasia ekaterina nikos giannis kostas eleni maria dimitris
  mehmet mustafa ahmet ali hasan huseyin murat emre fatma ayse zeynep elif mohammed muhammad ahmad omar
  khaled youssef ibrahim hassan fatima aisha layla noor amir reza hamid maryam david moshe yael noa avi
  raj rahul amit sanjay anil sunil vijay ravi suresh priya anjali neha pooja deepak arjun krishna lakshmi
  wei ming jing li fang hui ying xiao jun lei yan hiroshi takashi kenji yuki haruto sakura naoko akira
  minh anh thi hoang linh thanh phuong thao quang duc huong thuy ngoc trang somchai siriporn budi dewi putri
  agus siti rizal joko wahyu jose maricel rizza jin min soo hyun young ji kwame kofi amina chidi ngozi thabo sipho
`);

export const FAMILY_NAMES: readonly string[] = splitWords(`
  smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson
  anderson thomas taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis
  robinson walker young allen king wright scott torres nguyen hill flores green adams nelson baker hall
  rivera campbell mitchell carter roberts gomez phillips evans turner diaz parker cruz edwards collins reyes
  stewart morris morales murphy cook rogers gutierrez ortiz morgan cooper peterson bailey reed kelly howard
  ramos kim cox ward richardson watson brooks chavez wood james bennett gray mendoza ruiz hughes price
  alvarez castillo sanders patel myers long ross foster jimenez powell jenkins perry russell sullivan bell
  coleman butler henderson barnes fisher vasquez simmons graham murray ford hamilton mcdonald mckenzie
  obrien oconnor macleod fitzgerald mueller schmidt schneider fischer weber meyer wagner becker schulz
  hoffmann schaefer koch bauer richter klein wolf schroeder neumann schwarz zimmermann braun krueger hofmann
  hartmann lange werner krause lehmann huber maier steiner gruber berger frei brunner jansen devries dejong
  bakker visser smit meijer mulder bos peeters janssens maes dubois dupont lambert bernard petit durand leroy
  moreau laurent lefebvre michel roux fournier girard bonnet blanc rousseau fontaine mercier rossi russo
  ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti costa giordano mancini rizzo
  lombardi fernandez gutierrez navarro dominguez vazquez serrano molina delgado castro ortega rubio marin
  silva santos oliveira souza pereira ferreira alves ribeiro carvalho almeida lopes soares fernandes vieira
  barbosa rocha dias monteiro cardoso nowak kowalski wisniewski wojcik kowalczyk kaminski lewandowski
  zielinski szymanski novak svoboda dvorak cerny prochazka horvath nagy kovacs szabo toth popescu ionescu
  popa dumitru petrovic jovanovic nikolic ilic markovic horvat ivanov smirnov kuznetsov popov vasiliev
  petrov sokolov mikhailov novikov fedorov morozov volkov shevchenko kovalenko bondarenko tkachenko
  papadopoulos georgiou nikolaidis yilmaz kaya demir celik sahin yildiz ozturk aydin arslan hansen johansen
  olsen larsen andersen pedersen nilsen kristiansen jensen karlsen johansson andersson karlsson nilsson
  eriksson larsson lindberg lindstrom bergstrom nielsen christensen rasmussen virtanen korhonen makinen
  nieminen ahmed khan hussain malik abdullah rahman hassan saleh mansour haddad khoury cohen levy mizrahi
  friedman goldberg singh kumar sharma gupta verma reddy rao mehta shah joshi desai nair iyer chopra wang
  zhang chen liu yang huang zhao wu zhou xu sun zhu lin guo tanaka sato suzuki takahashi watanabe ito
  le do ho ngo duong ly wijaya santoso susanto hidayat suharto siregar dela bautista villanueva aquino
  srisai wongsakul yamamoto nakamura kobayashi kato yoshida tran pham phan vu dang bui park choi jung kang cho yoon jang
  wieczorek adamczyk walczak szczepaniak przybylski mazur krol duda zajac kubiak chmielewski baranowski
  urbanski pietrzak cieslak bartosz grzegorz zbigniew wojciech kucera vesely kral hajek marek pokorny jelinek
  nemeth farkas molnar varga lakatos stoica marinescu constantinescu georgescu dimitrov todorov hristov
  bozic knezevic vidovic kovacevic babic zoric zaharov kozlov lebedev zhukov tarasov melnyk boyko hryhorenko
  papadakis vlachos antoniou ozdemir dogan korkmaz aksoy bulut farah hakim jaber nasser sharif zaidi mirza
  hosseini karimi rahimi biton dahan katz klein bose ghosh mitra sengupta dutta das pillai menon iyengar
  bhatt thakur yadav pandey mishra tiwari trivedi naidu patil desouza vandijk vandenberg vanbeek
  hendriks kuijpers schouten dekker vermeulen claes goossens wouters desmet lefevre garnier faure andre
  guerin boyer renard picard gauthier barbier arnaud rolland caron giraud brun muller keller vogt winkler
  schubert engel baumann kaiser fuchs scholz moller lorenz albrecht winter sommer busch pohl haas
  nygaard dahl berg lund holm strand haugland sjoberg engstrom lundqvist laine heikkila koskinen
  hayashi shimizu saito inoue kimura mori abe hashimoto ogawa okada fujita goto hasegawa shin kwon han oh
  nwosu eze balogun abebe tesfaye kamau njoroge mokoena ndlovu mensah owusu okafor okonkwo adeyemi mwangi otieno dlamini nkosi botha
`);

export const COMMON_WORDS: readonly string[] = splitWords(`
  info sales support office contact admin mail email hello team service help billing accounts accounting
  finance invoice orders shop store press media marketing jobs career careers hr recruiting legal privacy
  security abuse postmaster webmaster hostmaster noreply reply news newsletter events booking reservations
  reception welcome enquiries general manager director president secretary assistant staff student teacher
  school college library club church studio design web online digital data tech developer dev test testing
  demo user guest member customer client partner vendor supplier purchase procurement logistics shipping
  warehouse export import travel hotel restaurant cafe kitchen garden house home family music video photo
  photos art artist writer blog game gamer games player sport football fitness health medical doctor clinic
  pharmacy dental law lawyer consulting consultant engineer engineering project projects product production
  quality research lab science group global world international company business trade market bank money
  cash gold silver black blue red star sun moon sky light fire water river mountain ocean forest tree flower
  happy lucky sweet cool super big little old new best first last one two real just the my your mr mrs
  dragon tiger lion wolf eagle bear cat dog bird fish girl boy man woman lady baby queen prince angel
  magic power speed racer rider driver hunter master ninja pirate captain soldier love life dream
  summer winter spring autumn january march april june july august monday friday sunday
  desk front back main central north south east west city town london paris berlin york
`);
