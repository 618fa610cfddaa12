/** Privacy relays and alias services. */
const SERVICES: readonly string[] = [
  // Apple, DuckDuckGo, Mozilla
  "privaterelay.appleid.com",
  "duck.com",
  "mozmail.com",
  "relay.firefox.com",
  // SimpleLogin and Proton Pass
  "simplelogin.com",
  "simplelogin.co",
  "simplelogin.io",
  "simplelogin.fr",
  "aleeas.com",
  "slmail.me",
  "slmails.com",
  "silomails.com",
  "8shield.net",
  "8alias.com",
  "dralias.com",
  "passmail.net",
  "passmail.com",
  "passinbox.com",
  "passfwd.com",
  // addy.io
  "addy.io",
  "anonaddy.com",
  "anonaddy.me",
  "addymail.com",
  "4wrd.cc",
  "mailer.me",
  // Others whose aliases stay until their owner removes them
  "33mail.com",
  "forwardemail.net",
  "sneakemail.com",
  "snkmail.com",
  "snkml.com",
  "liamekaens.com",
  // Spamgourmet forwards to its user, as often as that user allows (names from the allow list of
  // disposable-email-domains)
  "spamgourmet.com",
  "spamgourmet.net",
  "spamgourmet.org",
  "antichef.com",
  "antichef.net",
  "dfgh.net",
  "neverbox.com",
  "recursor.net",
  "spamcannon.com",
  "spamcannon.net",
  "xoxy.net",
  // Blur, once MaskMe
  "opayq.com",
  // Lockr, Bump and ProxiedMail (the private relays of fnando/email_data)
  "lockrmail.com",
  "bumpmail.io",
  "bump.email",
  "proxiedmail.com",
  // MySudo
  "sudomail.com",
  "sudomail.biz",
  "sudomail.net",
  "sudolife.me",
  "sudolife.net",
  "sudoverse.com",
  "sudoverse.net",
  "sudoweb.net",
  "sudoworld.com",
  "sudoworld.net",
];

type GoBetween = { readonly host: string; readonly endings: string };

/**
 * Marketplaces, landlords and travel agents that forward mail between two people. Their orders and messages show these names; a
 * marketplace uses one host name in all countries.
 */
const GO_BETWEENS: readonly GoBetween[] = [
  // Buyers' addresses in orders, from Amazon's Selling Partner API
  {
    host: "marketplace.amazon",
    endings: `com ca com.mx com.br co.uk de fr it es nl se pl com.be ie com.tr ae sa eg in co.jp com.au sg co.za`,
  },
  {
    host: "members.ebay",
    endings: `com co.uk de fr it es at ch ie nl be pl ca com.au com.hk com.sg com.my in ph`,
  },
  { host: "members.kaufland", endings: "de at cz sk pl it fr" },
  { host: "relay.walmart", endings: "com ca" },
  { host: "verkopen.bol", endings: "com" },
  { host: "allegromail", endings: "pl" },
  { host: "fw.rakuten", endings: "ne.jp" },
  { host: "mail.mercadolibre", endings: "com" },
  { host: "mail.mercadolivre", endings: "com" },
  // Small ads
  { host: "mail.kleinanzeigen", endings: "de" },
  { host: "mail.ebay-kleinanzeigen", endings: "de" },
  { host: "messagerie.leboncoin", endings: "fr" },
  ...["reply", "sale", "hous", "serv", "comm", "job", "gigs", "res", "pers"].map((section) => ({
    host: `${section}.craigslist`,
    endings: "org",
  })),
  // Homes and travel
  ...["guest", "guests", "host", "reply", "stay", "user"].map((side) => ({
    host: `${side}.airbnb`,
    endings: "com",
  })),
  ...["guest", "property", "mchat"].map((side) => ({ host: `${side}.booking`, endings: "com" })),
  ...["m", "guest"].map((side) => ({ host: `${side}.expediapartnercentral`, endings: "com" })),
  ...["guest", "stay"].map((side) => ({ host: `${side}.expedia`, endings: "com" })),
  { host: "guest.hotels", endings: "com" },
  // Applicants' addresses that Indeed shows to employers
  { host: "indeedemail", endings: "com" },
  { host: "messages.homeaway", endings: "com" },
  { host: "messages.vrbo", endings: "com" },
  { host: "agoda-messaging", endings: "com" },
  ...["guest", "reply", "message"].map((side) => ({ host: `${side}.agoda`, endings: "com" })),
  { host: "guest.trip", endings: "com" },
  ...["zillow", "trulia", "hotpads"].map((site) => ({ host: `convo.${site}`, endings: "com" })),
];

/**
 * Forwarding domains: mail to them reaches a person who reads, answers and buys, although broad lists count many of them as
 * disposable. Subdomains count, too, because several services give each user a subdomain.
 */
export const relayDomains: readonly string[] = [
  ...SERVICES,
  ...GO_BETWEENS.flatMap(({ host, endings }) =>
    endings.split(" ").map((ending) => `${host}.${ending}`),
  ),
];
