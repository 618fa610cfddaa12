/**
 * Mail to these reaches a person: privacy relays, alias services, and the go-betweens of market places. Broad
 * lists count many of them as disposable. For a sender they are not: the owner reads, answers and buys. Every
 * subdomain belongs to the service too, because several give one to each user.
 */
export const relayDomains: readonly string[] = [
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
  // Market places that stand between buyer and seller
  "marketplace.amazon.com",
  "marketplace.amazon.ca",
  "marketplace.amazon.co.uk",
  "marketplace.amazon.de",
  "marketplace.amazon.es",
  "marketplace.amazon.fr",
  "marketplace.amazon.it",
  "guest.booking.com",
  "reply.airbnb.com",
  "reply.craigslist.org",
];
