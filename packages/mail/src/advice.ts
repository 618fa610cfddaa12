/** The remedy for an issue. The detail replaces each {name}. */
export type Advice = {
  readonly id: string;
  readonly for: readonly string[];
  /** Set when the record replaces one that hid faults, or adds the first record: the new record's faults count against the gain. */
  readonly uncovers?: true;
  readonly text?: string;
};

const BY_ID: Readonly<Record<string, Omit<Advice, "id">>> = {
  add_mx: {
    for: ["MX_NXDOMAIN", "MX_NONE_NO_A", "MX_IMPLICIT"],
    text: "Publish at least one MX record that points to a host name with an address.",
  },
  null_mx: {
    for: ["MX_NULL", "MX_NULL_MIXED"],
    text: "Remove the null MX if the domain should receive mail, replies and bounces included; otherwise keep only the null MX.",
  },
  fix_mx_target: {
    for: ["MX_TARGET_NX", "MX_TARGET_PRIVATE"],
    text: "Point {host} to a public IP address, or use another host in the MX record.",
  },
  mx_ip: {
    for: ["MX_TARGET_IP"],
    text: "Use a host name in the MX record instead of the IP address {host}, and point that host name to the address.",
  },
  mx_cname: {
    for: ["MX_TARGET_CNAME"],
    text: "Replace the CNAME behind MX {host} with address records.",
  },
  mx_duplicate: { for: ["MX_DUP"], text: "List {host} in one MX record only." },
  name_servers: {
    for: ["NS"],
    text: "Use at least two name servers for the domain, in different networks.",
  },

  add_spf: {
    uncovers: true,
    for: ["SPF_MISSING"],
    text: "Publish one TXT record starting with v=spf1 that lists your senders and ends in ~all or -all.",
  },
  merge_spf: {
    uncovers: true,
    for: ["SPF_MULTIPLE"],
    text: "Merge your SPF records into one: receivers treat more than one as an error.",
  },
  spf_syntax: { uncovers: true, for: ["SPF_SYNTAX"] },
  spf_lookups: {
    for: ["SPF_LOOKUPS_GT_10", "SPF_LOOKUPS_8_10"],
    text: "Bring your SPF record below the limit of 10 DNS lookups: remove includes that are not used, or replace them with ip4 and ip6.",
  },
  spf_void: {
    for: ["SPF_VOID_GT_2"],
    text: "Remove names that no longer exist from your SPF record: receivers stop after two of them.",
  },
  spf_fewer_hosts: {
    for: ["SPF_MX_GT_10", "SPF_PTR_GT_10"],
    text: "Replace mx and ptr in your SPF record with ip4 and ip6: they may resolve to at most 10 hosts.",
  },
  spf_plus_all: {
    uncovers: true,
    for: ["SPF_PLUS_ALL"],
    text: "Your SPF record allows every host. Replace +all with ~all or -all.",
  },
  spf_wide: {
    for: ["SPF_WIDE_CIDR"],
    text: "Narrow the address blocks in your SPF record to those that send for you.",
  },
  spf_all_missing: {
    uncovers: true,
    for: ["SPF_NEUTRAL_ALL"],
    text: "End your SPF record with ~all or -all: as it is, it says nothing about other senders.",
  },
  spf_softfail: {
    for: ["SPF_SOFTFAIL"],
    text: "Let DMARC decide about mail that fails SPF (p=quarantine or reject). Use -all only when your mail is never forwarded.",
  },
  spf_after_all: {
    for: ["SPF_TERMS_AFTER_ALL"],
    text: "Move the mechanisms after all in your SPF record before it, or remove them: receivers ignore them there.",
  },
  spf_ptr: {
    for: ["SPF_PTR"],
    text: "Replace ptr in your SPF record with ip4, ip6 or a: it is slow, and some receivers ignore it.",
  },
  spf_duplicates: { for: ["SPF_DUP_INCLUDE"], text: "List each include once." },
  spf_shorten: {
    for: ["SPF_LONG"],
    text: "Shorten your SPF record, or move a part of it into an include: long DNS answers get lost.",
  },
  spf_include_broken: {
    uncovers: true,
    for: ["SPF_INCLUDE_NONE", "SPF_REDIRECT_NONE", "SPF_DANGLING_INCLUDE", "SPF_LOOP"],
  },
  spf_ip_not_authorized: { for: ["SPF_IP_NOT_COVERED"] },

  add_dkim: {
    for: ["DKIM_NXDOMAIN"],
    text: "Sign your mail with DKIM: create a 2048-bit key with your mail server or provider, and publish it below _domainkey.{domain}.",
  },
  dkim_unknown: {
    for: ["DKIM_NOT_FOUND"],
    text: "No key was found under the {n} selectors we tried. If you sign with another selector, this is not a fault.",
  },
  dkim_short: {
    for: ["DKIM_SHORT"],
    text: "Replace the DKIM key at {selector} with one of 2048 bits: receivers reject keys below 1024 bits.",
  },
  dkim_rotate_2048: {
    for: ["DKIM_1024"],
    text: "Replace the DKIM key at {selector} with one of 2048 bits, under a new selector, and remove the old one later.",
  },
  dkim_testing: {
    for: ["DKIM_TESTING"],
    text: "Remove t=y from the DKIM key at {selector}: with it, receivers ignore signatures.",
  },
  dkim_revoked: {
    for: ["DKIM_REVOKED"],
    text: "The key at {selector} is revoked. Publish a new one under another selector if you still sign with it.",
  },
  dkim_hash: {
    for: ["DKIM_SHA1_ONLY"],
    text: "Remove h= from the DKIM key at {selector}, or add sha256 to it.",
  },
  dkim_fix_key: {
    for: ["DKIM_BAD_KEY", "DKIM_MULTI_TXT", "DKIM_SERVICE"],
    text: "Publish the DKIM key at {selector} again, as one TXT record: v=DKIM1; k=rsa; p=, and the key.",
  },
  dkim_add_rsa: {
    for: ["DKIM_ED25519_ONLY"],
    text: "Also sign with an RSA key of 2048 bits: many receivers cannot verify Ed25519.",
  },
  dkim_alias: {
    for: ["DKIM_CNAME_DANGLING"],
    text: "Finish setting up the DKIM selector {selector} with your provider, or remove its CNAME.",
  },

  add_dmarc: {
    uncovers: true,
    for: ["DMARC_MISSING"],
    text: "Publish v=DMARC1; p=none; rua=mailto:... at _dmarc.{domain}, then move to quarantine and reject.",
  },
  dmarc_multiple: {
    uncovers: true,
    for: ["DMARC_MULTIPLE"],
    text: "Keep one DMARC record at {name}.",
  },
  dmarc_version: {
    uncovers: true,
    for: ["DMARC_VERSION"],
    text: "Start the record at {name} with exactly v=DMARC1;.",
  },
  dmarc_place: { uncovers: true, for: ["DMARC_WRONG_PLACE"] },
  dmarc_policy: {
    uncovers: true,
    for: ["DMARC_P_MISSING"],
    text: "Give the DMARC record a valid {tag}=: none, quarantine or reject.",
  },
  dmarc_tags: {
    uncovers: true,
    for: ["DMARC_DUP_TAG"],
    text: "Use each tag of the DMARC record once: {tags} is repeated.",
  },
  dmarc_enforce: {
    for: ["DMARC_P_NONE", "DMARC_P_QUARANTINE"],
    text: "Once the reports show only your own senders, move DMARC on to {next}.",
  },
  dmarc_test_mode: {
    for: ["DMARC_T_Y"],
    text: "Once the reports show only your own senders, remove t=y from the DMARC record.",
  },
  dmarc_sp: {
    for: ["DMARC_SP_WEAK", "DMARC_NP"],
    text: "Make sp= and np= in the DMARC record as strict as p=, or remove them: p= then applies to subdomains, too.",
  },
  dmarc_values: {
    for: ["DMARC_TAG_VALUE"],
    text: "Correct the values in the DMARC record that do not exist: {tags}.",
  },
  dmarc_ruf: {
    for: ["DMARC_RUF_BAD", "DMARC_RUF_NO_MX"],
    text: "Name one or two addresses in ruf= that can receive mail, each with mailto: before it, or remove ruf=: few receivers send failure reports.",
  },
  dmarc_ruf_authorize: {
    for: ["DMARC_RUF_UNAUTHORIZED"],
    text: "Ask {host} to publish v=DMARC1 at {name}; without it, receivers send it no failure reports about you.",
  },
  dmarc_rua: {
    for: ["DMARC_NO_RUA", "DMARC_RUA_BAD", "DMARC_RUA_NO_MX"],
    text: "Ask for aggregate reports with rua=mailto: and one or two addresses that can receive mail.",
  },
  dmarc_rua_authorize: {
    for: ["DMARC_RUA_UNAUTHORIZED"],
    text: "Ask {host} to publish v=DMARC1 at {name}; without it, receivers send it no reports about you.",
  },
  dmarc_obsolete_tags: {
    for: ["DMARC_PCT", "DMARC_RF", "DMARC_RI"],
    text: "Remove pct, rf and ri from the DMARC record: RFC 9989 dropped them. Use t=y for testing.",
  },

  ptr_missing: {
    for: ["PTR_MISSING"],
    text: "Ask the provider of {ip} to set its reverse DNS (PTR) to your mail server's name.",
  },
  ptr_mismatch: {
    for: ["PTR_MISMATCH"],
    text: "Point {name} to {ip}, or set the reverse DNS of {ip} to a host that resolves to it.",
  },
  ptr_generic: {
    for: ["PTR_GENERIC"],
    text: "Set the reverse DNS of {ip} to your mail server's name: several receivers reject names like {name}.",
  },
  ptr_single: { for: ["PTR_SEVERAL"], text: "Keep one PTR record for {ip}." },

  blocklists_inconclusive: {
    for: ["BLOCKLISTS_INCONCLUSIVE"],
    text: "{n} lists gave no verdict; this does not count against you.",
  },
  www_name: { for: ["WWW_NAME"] },
  mta_sts: {
    for: ["MTA_STS_MISSING", "MTA_STS_BAD", "MTA_STS_UNCHECKED", "MTA_STS_NOT_ENFORCED"],
  },
  tls_rpt: { for: ["TLS_RPT_MISSING", "TLS_RPT_BAD"] },
  bimi: { for: ["BIMI_MISSING", "BIMI_BAD"] },
  bimi_logo: { for: ["BIMI_LOGO_BAD", "BIMI_LOGO_UNCHECKED"] },
  bimi_certificate: { for: ["BIMI_NO_CERTIFICATE"] },
  dnssec: { for: ["DNSSEC_MISSING"] },
  dane: {
    for: ["DANE_MISSING", "DANE_BAD", "DANE_UNSIGNED", "DANE_PARTIAL"],
  },
  email_verification: {
    for: ["EMAIL_VERIFICATION_BAD", "EMAIL_VERIFICATION_UNCHECKED"],
  },
};

export const ADVICE: readonly Advice[] = Object.entries(BY_ID).map(([id, one]) => ({ id, ...one }));
