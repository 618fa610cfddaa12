import { CERT_FILE, KEY_FILE, type Recipe } from "./sandbox.ts";

const MAIN = `
compatibility_level = 3.6
maillog_file = /var/log/mail.log
myhostname = mx.here.test
inet_interfaces = 127.0.0.1
# We are on loopback and still no trusted client.
mynetworks = 192.0.2.0/24
mydestination = here.test
local_recipient_maps = inline:{ { ann = x }, { bob = x }, { postmaster = x } }
virtual_mailbox_domains = virtual.test
virtual_mailbox_maps = inline:{ { ann@virtual.test = ann } }
virtual_alias_domains = all.test, alias.test
virtual_alias_maps = inline:{ { @all.test = ann@here.test }, { ann@alias.test = ann@here.test } }
relay_domains = relayed.test
relay_recipient_maps = inline:{ { ann@relayed.test = x } }
smtpd_relay_restrictions = reject_unauth_destination
smtpd_recipient_restrictions = check_recipient_access inline:{
  { grey@here.test = 450 4.2.0 Greylisted }
  { disabled@here.test = 550 5.2.1 Mailbox disabled }
  { full@here.test = 452 4.2.2 Mailbox full }
  { forbidden@here.test = REJECT } }
smtpd_tls_security_level = may
smtpd_tls_cert_file = ${CERT_FILE}
smtpd_tls_key_file = ${KEY_FILE}
`;

// No part of it in a cage of its own: the whole of it is in ours.
const formatMaster = (port: number) => `
127.0.0.1:${port} inet n - n - - smtpd
rewrite unix - - n - - trivial-rewrite
postlog unix-dgram n - n - 1 postlogd
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
proxymap unix - - n - - proxymap
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
pickup unix n - n 60 1 pickup
`;

const createPostfix = (main: string): Recipe => ({
  debian: "postfix",
  accounts: ["postfix", "postdrop"],
  files: (port) => ({ "/etc/postfix/main.cf": main, "/etc/postfix/master.cf": formatMaster(port) }),
  start: () => `
chown postfix /var/lib/postfix
postfix start || { cat /var/log/mail.log; exit 1; }
`,
});

export const POSTFIX = createPostfix(MAIN);

/** Before it accepts a recipient it asks the policy service at this port of the loopback, as it asks postgrey. */
export const createPostfixWithPolicy = (policyPort: number): Recipe =>
  createPostfix(`${MAIN}
smtpd_recipient_restrictions = check_policy_service inet:127.0.0.1:${policyPort}
`);
