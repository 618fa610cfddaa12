/**
 * Freemail providers that we vouch for: always free, and never disposable, whatever another list says. The
 * long tail is data/free.ts.
 */
export const webmailDomains: readonly string[] = `
  gmail.com googlemail.com
  outlook.com outlook.fr outlook.de outlook.es outlook.it outlook.pt outlook.jp outlook.com.br outlook.in outlook.be
  outlook.dk outlook.cz outlook.sa outlook.kr outlook.co.th outlook.com.au outlook.ie outlook.hu
  hotmail.com hotmail.co.uk hotmail.fr hotmail.de hotmail.it hotmail.es hotmail.ca hotmail.be hotmail.nl hotmail.gr
  hotmail.se hotmail.no hotmail.dk hotmail.fi hotmail.ch hotmail.com.br hotmail.com.ar hotmail.com.au hotmail.co.jp
  live.com live.co.uk live.fr live.de live.it live.nl live.be live.ca live.se live.no live.dk live.cn live.jp
  live.com.mx live.com.au live.com.ar live.com.pt live.ie live.in msn.com windowslive.com
  yahoo.com yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.in yahoo.ie yahoo.se yahoo.no yahoo.dk
  yahoo.nl yahoo.be yahoo.gr yahoo.pl yahoo.ro yahoo.co.in yahoo.co.id yahoo.co.jp yahoo.co.kr yahoo.co.nz
  yahoo.co.th yahoo.com.au yahoo.com.br yahoo.com.ar yahoo.com.mx yahoo.com.ph yahoo.com.sg yahoo.com.tr
  yahoo.com.tw yahoo.com.vn yahoo.com.hk yahoo.com.my yahoo.com.co yahoo.cn yahoo.com.cn ymail.com rocketmail.com
  myyahoo.com
  aol.com aol.co.uk aol.de aol.fr aim.com love.com games.com wow.com ygm.com
  icloud.com me.com mac.com
  proton.me protonmail.com protonmail.ch pm.me tuta.com tuta.io tutanota.com tutanota.de tutamail.com keemail.me
  fastmail.com fastmail.fm sent.com hey.com zoho.com zohomail.com zoho.eu zoho.in mailfence.com mailbox.org posteo.de
  posteo.net runbox.com kolabnow.com startmail.com hushmail.com hush.com hush.ai hushmail.me riseup.net disroot.org
  airmail.cc cock.li vfemail.net safe-mail.net onmail.com countermail.com lavabit.com
  gmx.com gmx.de gmx.net gmx.at gmx.ch gmx.fr gmx.es gmx.us gmx.co.uk web.de freenet.de t-online.de arcor.de
  mail.de email.de
  mail.com email.com usa.com myself.com consultant.com dr.com techie.com engineer.com post.com writeme.com iname.com
  europe.com cheerful.com accountant.com contractor.net photographer.net lawyer.com doctor.com programmer.net
  musician.org artlover.com chef.net priest.com optician.com salesperson.net dutchmail.com alumni.com email.org
  collector.org birdlover.com deal-maker.com mindless.com presidency.com protestant.com snakebite.com hongkong.com
  mail.ru bk.ru list.ru inbox.ru internet.ru yandex.ru yandex.com yandex.by yandex.kz yandex.ua ya.ru narod.ru
  rambler.ru lenta.ru ro.ru autorambler.ru myrambler.ru pochta.ru ukr.net i.ua meta.ua bigmir.net tut.by
  qq.com vip.qq.com foxmail.com 163.com vip.163.com 126.com yeah.net 188.com sina.com sina.cn vip.sina.com sohu.com
  tom.com 21cn.com 139.com 189.cn wo.cn aliyun.com 263.net eyou.com
  naver.com daum.net hanmail.net nate.com kakao.com korea.com
  docomo.ne.jp ezweb.ne.jp softbank.ne.jp i.softbank.jp au.com excite.co.jp
  rediffmail.com sify.com
  orange.fr wanadoo.fr free.fr sfr.fr neuf.fr laposte.net bbox.fr numericable.fr aliceadsl.fr club-internet.fr
  voila.fr caramail.com
  libero.it virgilio.it alice.it tin.it tim.it tiscali.it inwind.it iol.it email.it fastwebnet.it poste.it
  uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com oi.com.br r7.com zipmail.com.br
  wp.pl o2.pl onet.pl op.pl interia.pl poczta.onet.pl poczta.fm gazeta.pl tlen.pl vp.pl go2.pl
  seznam.cz email.cz centrum.cz post.cz volny.cz azet.sk zoznam.sk freemail.hu citromail.hu abv.bg mail.bg inbox.lv
  sapo.pt mail.pt iol.pt terra.es ya.com latinmail.com walla.com walla.co.il mynet.com maktoob.com
  telenet.be skynet.be ziggo.nl planet.nl hetnet.nl home.nl kpnmail.nl xs4all.nl bluewin.ch sunrise.ch hispeed.ch
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net juno.com netzero.net
  optonline.net frontier.com windstream.net centurylink.net roadrunner.com rr.com twc.com
  btinternet.com virginmedia.com sky.com ntlworld.com talktalk.net blueyonder.co.uk tiscali.co.uk
  bigpond.com bigpond.net.au optusnet.com.au iinet.net.au xtra.co.nz rogers.com shaw.ca sympatico.ca telus.net
  videotron.ca
  lycos.com excite.com inbox.com mail2world.com netscape.net hotbot.com sdf.org`
  .trim()
  .split(/\s+/);
