import { CERT_FILE, KEY_FILE, type Recipe } from "./sandbox.ts";

const formatConfig = (port: number) => `
pki mx.here.test cert "${CERT_FILE}"
pki mx.here.test key "${KEY_FILE}"
filter grey phase rcpt-to match rcpt-to { "grey@here.test" } reject "451 4.7.1 Greylisted"
filter disabled phase rcpt-to match rcpt-to { "disabled@here.test" } reject "550 5.2.1 Mailbox disabled"
filter full phase rcpt-to match rcpt-to { "full@here.test" } reject "452 4.2.2 Mailbox full"
filter all chain { grey disabled full }
listen on 127.0.0.1 port ${port} tls pki mx.here.test hostname mx.here.test filter all
table everybody { "@" = ann }
table few { "ann@virtual.test" = ann }
action own mbox
action everybody mbox virtual <everybody>
action few mbox virtual <few>
match from any for domain "here.test" action own
match from any for domain "all.test" action everybody
match from any for domain "virtual.test" action few
`;

export const OPENSMTPD: Recipe = {
  debian: "opensmtpd",
  accounts: ["opensmtpd", "opensmtpq", "ann", "bob"],
  files: (port) => ({ "/etc/smtpd.conf": formatConfig(port) }),
  start: () => `
mkdir -p /var/lib/opensmtpd/empty
chmod 600 ${KEY_FILE}
smtpd -d &
`,
};
