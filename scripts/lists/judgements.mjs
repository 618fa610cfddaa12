// What we know better than the packages. A free provider lets the public register an address: a firm, a university, a
// newspaper or a city does not, though some once did, and copies of old lists still say so.

const readTable = (table) =>
  table.flatMap(({ why, domains }) =>
    domains
      .trim()
      .split(/\s+/)
      .map((domain) => ({ domain, why })),
  );

/** Providers that no package has. */
export const FREE_TOO = readTable([
  {
    why: "Access providers of Austria",
    domains: `a1.net aon.at chello.at inode.at utanet.at liwest.at kabsi.at tele2.at eunet.at salzburg-online.at gmx.li`,
  },
  {
    why: "UPC's customers in other countries",
    domains: `chello.be chello.cz chello.fr chello.hu chello.nl chello.no chello.pl chello.se chello.sk upcmail.cz
      upcmail.hu upcmail.ie upcmail.nl upcmail.ro`,
  },
  {
    why: "Access providers of Germany",
    domains: `alice.de alice-dsl.de alice-dsl.net alicedsl.de hanse.net o2online.de o2mail.de
      vodafonemail.de kabelmail.de kabelbw.de unitybox.de superkabel.de netcologne.de ewetel.net ewetel.de ewe.net
      osnanet.de versanet.de htp-tel.de mnet-online.de mnet-mail.de wtnet.de tele2.de magenta.de online.de
      onlinehome.de nexgo.de compuserve.de germanynet.de lycos.de firemail.de directbox.com netcourrier.com`,
  },
  {
    why: "Access providers of Switzerland and Luxembourg",
    domains: `swissonline.ch bluemail.ch freesurf.ch solnet.ch vtxnet.ch vtxmail.ch citycable.ch netplus.ch
      quickline.ch besonet.ch pt.lu vo.lu internet.lu tango.lu`,
  },
  {
    why: "Lycos in each country",
    domains: `lycos.at lycos.be lycos.ch lycos.co.kr lycos.co.uk lycos.dk lycos.es lycos.fr lycos.it lycos.nl lycos.se
      lycosmail.com`,
  },
  {
    why: "AOL, Netscape and CompuServe",
    domains: `aol.at aol.be aol.ca aol.ch aol.cl aol.com.ar aol.com.au aol.com.br aol.com.co aol.com.mx aol.cz aol.dk
      aol.es aol.fi aol.hk aol.in aol.it aol.jp aol.kr aol.nl aol.pl aol.ru aol.se aol.tw cs.com compuserve.com
      netscape.ca netscape.com netscapeonline.co.uk wmconnect.com`,
  },
  {
    why: "Mail providers that sell or give privacy",
    domains: `murena.io e.email mailo.com mailo.fr autistici.org inventati.org systemli.org dismail.de
      onionmail.org cyberfear.com purelymail.com soverin.net criptext.com ctemplar.com skiff.com
      danwin1210.de danwin1210.me`,
  },
  {
    why: "More names of Zoho, Yandex, Mail.ru, Fastmail and Apple",
    domains: `zoho.com.au zoho.com.cn zoho.jp zoho.sa zohomail.ca zohomail.com.au zohomail.eu zohomail.in yandex.az
      yandex.co.il yandex.com.am yandex.com.ge yandex.com.tr yandex.ee yandex.fr yandex.kg yandex.lt yandex.lv yandex.md
      yandex.tj yandex.tm yandex.uz xmail.ru fastmail.us fastmail.co.uk`,
  },
  {
    why: "Access and mail providers of China, Hong Kong and Taiwan",
    domains: `126.net 163.net vip.126.com sina.com.cn sina.net vip.sohu.com sohu.net 263.net.cn 21cn.net chinaren.com
      eyou.net hainan.net wo.com.cn vip.tom.com hinet.net seed.net.tw pchome.com.tw url.com.tw netvigator.com hknet.com
      i-cable.com`,
  },
  {
    why: "Access and mail providers of Japan",
    domains: `nifty.com biglobe.ne.jp ocn.ne.jp plala.or.jp so-net.ne.jp dion.ne.jp infoseek.jp mail.goo.ne.jp goo.jp
      asahi-net.or.jp hi-ho.ne.jp jcom.home.ne.jp jcom.zaq.ne.jp zaq.ne.jp eonet.ne.jp ybb.ne.jp vodafone.ne.jp
      disney.ne.jp willcom.com y-mobile.ne.jp ymobile.ne.jp`,
  },
  {
    why: "Mail providers of Korea",
    domains: `dreamwiz.com empas.com paran.com freechal.com hanmir.com chol.com hitel.net unitel.co.kr netian.com`,
  },
  {
    why: "Access providers of India and South-East Asia",
    domains: `vsnl.com vsnl.net dataone.in airtelmail.in sancharnet.in singnet.com.sg pacific.net.sg starhub.net.sg
      streamyx.com tm.net.my telkom.net plasa.com indosat.net.id cbn.net.id`,
  },
  {
    why: "Access providers of Australia and New Zealand",
    domains: `tpg.com.au internode.on.net westnet.com.au dodo.com.au aapt.net.au ozemail.com.au adam.com.au
      iprimus.com.au netspace.net.au exemail.com.au clear.net.nz paradise.net.nz ihug.co.nz slingshot.co.nz
      orcon.net.nz vodafone.co.nz inspire.net.nz actrix.co.nz`,
  },
  {
    why: "Access providers of Norway, Sweden, Denmark and Finland",
    domains: `online.no broadpark.no frisurf.no getmail.no lyse.net altibox.no c2i.net start.no epost.no telia.com
      spray.se swipnet.se bredband.net comhem.se tele2.se glocalnet.net passagen.se home.se bahnhof.se ownit.nu
      bredband2.com mail.dk jubii.dk ofir.dk stofanet.dk tdcadsl.dk mail.tele.dk get2net.dk city.dk privat.dk
      post.tele.dk webspeed.dk youmail.dk fibermail.dk luukku.com kolumbus.fi saunalahti.fi elisanet.fi pp.inet.fi
      netti.fi suomi24.fi phnet.fi welho.com dnainternet.net`,
  },
  {
    why: "Access providers of Belgium and the Netherlands",
    domains: `scarlet.be pandora.be belgacom.net voo.be brutele.be versateladsl.be kpnplanet.nl casema.nl quicknet.nl
      wanadoo.nl tele2.nl zonnet.nl versatel.nl 12move.nl solcon.nl online.nl hccnet.nl caiway.nl caiway.net
      zeelandnet.nl onsbrabantnet.nl freeler.nl orange.nl kabelfoon.nl tiscali.nl`,
  },
  {
    why: "Access providers of France",
    domains: `noos.fr cegetel.net 9online.fr dartybox.com libertysurf.fr tiscali.fr nordnet.fr freesbee.fr
      worldonline.fr infonie.fr evc.net lilo.org`,
  },
  {
    why: "Access providers of Spain and Portugal",
    domains: `telefonica.net ono.com jazztel.es euskalnet.net orange.es mundo-r.com telecable.es wanadoo.es eresmas.com
      terra.com clix.pt netcabo.pt oninet.pt telepac.pt meo.pt net.sapo.pt portugalmail.pt`,
  },
  {
    why: "Access and mail providers of Italy",
    domains: `tiscalinet.it supereva.it katamail.com jumpy.it blu.it interfree.it kataweb.it teletu.it tele2.it`,
  },
  {
    why: "Access providers of the United Kingdom and Ireland",
    domains: `btopenworld.com talk21.com tesco.net onetel.com freeserve.co.uk orangehome.co.uk wanadoo.co.uk fsmail.net
      fsnet.co.uk lineone.net o2.co.uk supanet.com dsl.pipex.com pipex.com virgin.net uwclub.net eircom.net iol.ie
      indigo.ie esatclear.ie`,
  },
  {
    why: "Access providers of the United States and Canada",
    domains: `netzero.com peoplepc.com mindspring.com ix.netcom.com cableone.net suddenlink.net mediacombb.net mchsi.com
      insightbb.com wowway.com knology.net tds.net embarqmail.com q.com qwest.net centurytel.net frontiernet.net
      epix.net gci.net hughes.net wildblue.net alltel.net pacbell.net ameritech.net snet.net swbell.net nvbell.net
      flash.net prodigy.net optimum.net rcn.com erols.com starpower.net zoominternet.net consolidated.net fuse.net
      bresnan.net gte.net bellatlantic.net worldnet.att.net bell.net cogeco.ca eastlink.ca telusplanet.net mts.net
      mymts.net sasktel.net nbnet.nb.ca`,
  },
  {
    why: "Access and mail providers of Poland, Czechia, Slovakia and Hungary",
    domains: `onet.eu poczta.onet.eu spoko.pl vip.onet.pl autograf.pl buziaczek.pl amorki.pl interia.eu intmail.pl
      pisz.to pacz.to ogarnij.se vip.interia.pl neostrada.pl post.sk pobox.sk centrum.sk atlas.cz quick.cz tiscali.cz
      stonline.sk inmail.sk t-online.hu indamail.hu vipmail.hu invitel.hu digikabel.hu axelero.hu vnet.hu mailbox.hu`,
  },
  {
    why: "Access and mail providers of South-East Europe and Turkey",
    domains: `rdslink.ro clicknet.ro dir.bg gbg.bg otenet.gr forthnet.gr hol.gr freemail.gr mailbox.gr superonline.com
      ttmail.com net.hr inet.hr xnet.hr siol.net volja.net t-2.net amis.net email.si eunet.rs sbb.rs ptt.rs
      open.telekom.rs`,
  },
  {
    why: "Access and mail providers of the Baltic states, Russia, Ukraine and their neighbours",
    domains: `hot.ee mail.ee online.ee apollo.lv one.lv one.lt takas.lt inbox.lt nm.ru hotbox.ru fromru.com front.ru
      land.ru mail15.com mail333.com krovatka.su pisem.net rbcmail.ru newmail.ru nightmail.ru hotmail.ru e-mail.ua
      online.ua ua.fm email.ua mail.ua 3g.ua  mail.kz inbox.kz`,
  },
  {
    why: "Access providers of Israel and South Africa",
    domains: `netvision.net.il bezeqint.net 012.net.il 013.net 013net.net zahav.net.il barak.net.il actcom.co.il
      nana.co.il nana10.co.il mweb.co.za iafrica.com telkomsa.net webmail.co.za vodamail.co.za absamail.co.za lantic.net
      polka.co.za`,
  },
  {
    why: "Access providers of Latin America",
    domains: `prodigy.net.mx telmexmail.com fibertel.com.ar speedy.com.ar ciudad.com.ar arnet.com.ar
      uolsinectis.com.ar adinet.com.uy vtr.net terra.cl mi.cl entelchile.net cantv.net etb.net.co une.net.co pop.com.br
      superig.com.br brturbo.com.br ibest.com.br veloxmail.com.br uai.com.br`,
  },
]);

/** Domains of packages' lists of free providers that do not let the public register. */
export const NOT_FREE = readTable([
  {
    why: "Companies: only their employees write from these",
    domains: `alibaba.com amazonses.com arcotronics.bg backpackers.com ballyfinance.com baudoinconsulting.com
      autoescuelanerja.com beer.com bizhosting.com casablancaresort.com casino.com clerk.com collectiblesuperstore.com
      cox.com cybercafemaui.com dnsmadeeasy.com earthcam.net easypost.com ecbsolutions.net elvis.com
      facebook.com facebookmail.com federalcontractors.com furnitureprovider.com gamebox.net goldtoolbox.com google.com
      homelocator.com homestead.com hrisland.com icmsconsultants.com liontrucks.com looksmart.co.uk looksmart.com
      looksmart.com.au mailinblack.com mosaicfx.com mydomain.com name.com oath.com pacific-re.com playful.com recycler.com
      rediff.com renren.com rvshop.com saudia.com scientist.com seguros.com.br sogou.com starbucks.com stones.com
      telstra.com telstra.com.au tistory.com toast.com toolsource.com ttml.co.in violinmakers.co.uk webprogramming.com winning.com`,
  },
  {
    why: "Newspapers, broadcasters and sites to read: some gave mailboxes away before 2010, and none does today",
    domains: `97rock.com about.com adoption.com albawaba.com canada.com cntv.cn comic.com dailypioneer.com destin.com
      detik.com doityourself.com eurosport.com flipcode.com geek.com go.com happypuppy.com insidebaltimore.net
      ireland.com islamonline.net ivillage.com joelonsoftware.com kansascity.com la.com law.com manager.de medical.net.au
      medscape.com metacrawler.com naplesnews.net onmilwaukee.com scubadiving.com snowboarding.com space.com
      stargateradio.com swissinfo.org techspot.com theglobe.com indiatimes.com`,
  },
  {
    why: "Universities, schools, museums and associations",
    domains: `aristotle.org australia.edu cgac.es colleges.com dragoncon.net england.edu fathersrightsne.org fishburne.org
      nafe.com naui.net stade.fr tech4peace.org ummah.org unican.es upf.org usma.net`,
  },
  { why: "Cities", domains: "asheville.com berlin.de ourbrisbane.com" },
  { why: "Once listed as disposable, and no provider", domains: "waroengin.com" },
  { why: "Mailing lists, and no mailboxes", domains: "googlegroups.com" },
  {
    why: "Held for people who mistype a provider",
    domains: "gmailold.com gmailri.com outiook.com sbcglbal.net sbcglobal.com vahoo.com",
  },
]);

/** Domains of packages' lists of disposable ones that give no mailbox away. */
export const NOT_DISPOSABLE = readTable([
  { why: "A firm (Hola VPN): its people write from it", domains: "hola.org" },
]);
