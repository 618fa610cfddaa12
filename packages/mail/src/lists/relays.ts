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

/**
 * Marketplaces, landlords and travel agents that forward mail between two people. Their orders and messages show these names; a
 * marketplace uses one host name in all countries.
 */
const GO_BETWEENS: readonly (readonly [hosts: string, domain: string, endings: string])[] = [
  // Buyers' addresses in orders, from Amazon's Selling Partner API
  [
    "marketplace",
    "amazon",
    "com ca com.mx com.br co.uk de fr it es nl se pl com.be ie com.tr ae sa eg in co.jp com.au sg co.za",
  ],
  [
    "members",
    "ebay",
    "com co.uk de fr it es at ch ie nl be pl ca com.au com.hk com.sg com.my in ph",
  ],
  ["members", "kaufland", "de at cz sk pl it fr"],
  ["relay", "walmart", "com ca"],
  ["verkopen", "bol", "com"],
  ["", "allegromail", "pl"],
  ["fw", "rakuten", "ne.jp"],
  ["mail", "mercadolibre", "com"],
  ["mail", "mercadolivre", "com"],
  // Small ads
  ["mail", "kleinanzeigen", "de"],
  ["mail", "ebay-kleinanzeigen", "de"],
  ["messagerie", "leboncoin", "fr"],
  ["reply sale hous serv comm job gigs res pers", "craigslist", "org"],
  // Homes and travel
  ["guest guests host reply stay user", "airbnb", "com"],
  ["guest property mchat", "booking", "com"],
  ["m guest", "expediapartnercentral", "com"],
  ["guest stay", "expedia", "com"],
  ["guest", "hotels", "com"],
  // Applicants' addresses that Indeed shows to employers
  ["", "indeedemail", "com"],
  ["messages", "homeaway", "com"],
  ["messages", "vrbo", "com"],
  ["", "agoda-messaging", "com"],
  ["guest reply message", "agoda", "com"],
  ["guest", "trip", "com"],
  ["convo", "zillow", "com"],
  ["convo", "trulia", "com"],
  ["convo", "hotpads", "com"],
];

/**
 * Forwarding domains: mail to them reaches a person who reads, answers and buys, although broad lists count many of them as
 * disposable. Subdomains count, too, because several services give each user a subdomain.
 */
export const relayDomains: readonly string[] = [
  ...SERVICES,
  ...GO_BETWEENS.flatMap(([hosts, domain, endings]) =>
    hosts
      .split(" ")
      .map((host) => (host === "" ? domain : `${host}.${domain}`))
      .flatMap((name) => endings.split(" ").map((ending) => `${name}.${ending}`)),
  ),
];
