/** Providers of the engine's table for which no document of their replies was found. */
export const UNDOCUMENTED: Readonly<Record<string, string>> = {
  alibaba: "Alibaba Mail",
  cloudflare_area1: "Cloudflare Area 1, a gateway",
  forcepoint: "Forcepoint, a gateway",
  fortinet: "FortiMail Cloud, a gateway",
  gandi: "Gandi",
  hostinger: "Hostinger",
  kpn: "KPN",
  namecheap: "Namecheap Private Email",
  one_com: "one.com",
  seznam: "Seznam",
  sophos: "Sophos Email, a gateway",
  strato: "STRATO",
  titan: "Titan",
  trend_micro: "Trend Micro Email Security, a gateway",
  yahoo_japan: "Yahoo! Japan",
};
