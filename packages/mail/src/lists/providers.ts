/** Mail providers, the most popular first. The typo check compares domains with them. */
export const popularProviders: readonly string[] = `
  gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com live.com msn.com qq.com 163.com
  mail.ru yandex.ru gmx.de web.de orange.fr comcast.net me.com hotmail.co.uk yahoo.co.uk hotmail.fr
  libero.it t-online.de naver.com 126.com yahoo.fr wanadoo.fr free.fr proton.me protonmail.com gmx.net
  googlemail.com yahoo.co.in rediffmail.com yahoo.com.br uol.com.br bol.com.br terra.com.br ymail.com
  rocketmail.com sbcglobal.net verizon.net att.net bellsouth.net cox.net charter.net earthlink.net mac.com
  live.co.uk outlook.fr hotmail.it hotmail.de hotmail.es yahoo.de yahoo.it yahoo.es yahoo.co.jp yahoo.ca
  yahoo.com.au yahoo.co.id live.fr live.nl live.com.au sfr.fr laposte.net btinternet.com virginmedia.com
  sky.com ntlworld.com talktalk.net bigpond.com optusnet.com.au rogers.com shaw.ca sympatico.ca freenet.de
  arcor.de gmx.at gmx.ch bluewin.ch alice.it tin.it virgilio.it tiscali.it wp.pl o2.pl onet.pl interia.pl
  seznam.cz centrum.cz daum.net hanmail.net docomo.ne.jp ezweb.ne.jp sina.com foxmail.com yeah.net
  rambler.ru bk.ru list.ru inbox.ru yandex.com ya.ru ukr.net abv.bg zoho.com fastmail.com mail.com gmx.com
  tuta.com hey.com aim.com juno.com optonline.net frontier.com windstream.net centurylink.net telenet.be
  skynet.be ziggo.nl kpnmail.nl`
  .trim()
  .split(/\s+/);

/** Frequent typos of providers' domains. Squatters own these domains, and mail to them works, so only a list reveals them. */
const SQUATS: readonly (readonly [meant: string, typed: string])[] = [
  [
    "gmail.com",
    `gmial.com gmai.com gmil.com gmaill.com gmali.com gamil.com gnail.com gmal.com gmaul.com gmaik.com
     gmail.co gmail.cm gmail.om gmail.con gmail.cim gmail.vom gmail.comm gmailc.om gmaol.com gmsil.com
     gmaio.com gmeil.com gmeail.com ggmail.com gmmail.com gmaiil.com gmaiol.com gmqil.com gmwil.com gmailo.com gmailcom.com gmaail.com gmailm.com`,
  ],
  ["googlemail.com", "googlmail.com googelmail.com gogglemail.com goglemail.com googlemial.com"],
  [
    "yahoo.com",
    `yaho.com yahooo.com yhoo.com yahho.com yaoo.com yahoo.co yahoo.cm yahoo.con yahoo.om yahoo.comm
     yhaoo.com yajoo.com yaboo.com yahop.com yahpo.com uahoo.com tahoo.com yhahoo.com yahhoo.com yaahoo.com
     ayhoo.com yaooh.com yshoo.com yahoomail.co`,
  ],
  [
    "hotmail.com",
    `hotmial.com hotmai.com hotmal.com hotmil.com hotmaill.com hotamil.com homtail.com htomail.com
     hotmali.com hotnail.com hotmail.co hotmail.cm hotmail.con hotmail.om hotmail.comm hormail.com
     hoymail.com hitmail.com hptmail.com hotmaol.com hotmsil.com hotmaik.com hotmailc.om hotmeil.com
     ohtmail.com otmail.com hotmaul.com hottmail.com hoitmail.com homail.com hoomail.com`,
  ],
  [
    "outlook.com",
    `outlok.com outloo.com otlook.com outlool.com outllook.com outloook.com oulook.com outlook.co
     outlook.cm outlook.con outlook.om outook.com ooutlook.com oultook.com outlokk.com putlook.com
     outlouk.com iutlook.com`,
  ],
  [
    "icloud.com",
    `iclod.com icoud.com iclould.com icloud.co icloud.cm icloud.con icluod.com iclud.com icloude.com
     icolud.com iclooud.com ilcoud.com iicloud.com icliud.com`,
  ],
  ["aol.com", "aol.co aol.cm aol.con aol.om aoll.com"],
  ["msn.com", "msn.co msn.cm msn.con "],
  ["comcast.net", "comast.net comcas.net concast.net comcst.net comcat.net"],
  ["sbcglobal.net", "sbcgloble.net sbcgobal.net sbcglogal.net sbglobal.net"],
  ["verizon.net", "verizen.net verzion.net verison.net"],
  ["protonmail.com", "protonmal.com protomail.com protonmial.com protonmai.com"],
  ["t-online.de", "tonline.de t-onlin.de t-onlien.de t-oline.de"],
  ["orange.fr", "ornage.fr oragne.fr "],
  ["wanadoo.fr", "wandoo.fr wanado.fr wanaddo.fr"],
  ["rediffmail.com", "redifmail.com rediffmai.com rediffmial.com"],
];

/** Maps the mistyped domain to the intended provider. */
export const squats: ReadonlyMap<string, string> = new Map(
  SQUATS.flatMap(([meant, typed]) =>
    typed
      .trim()
      .split(/\s+/)
      .map((squat) => [squat, meant] as const),
  ),
);
