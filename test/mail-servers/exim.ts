import { CERT_FILE, KEY_FILE, type Recipe } from "./sandbox.ts";

const CONFIG = `
primary_hostname = mx.here.test
domainlist ours = here.test : all.test
acl_smtp_rcpt = rcpt
tls_certificate = ${CERT_FILE}
tls_privatekey = ${KEY_FILE}

begin acl
rcpt:
  defer local_parts = grey
        message = Greylisted, come back
  defer local_parts = full
        message = 452 4.2.2 Mailbox full
  deny  local_parts = forbidden
  deny  domains = ! +ours
        message = relay not permitted
  require verify = recipient
  accept

begin routers
refused_or_deferred:
  driver = redirect
  allow_fail
  allow_defer
  data = \${if eq{$local_part}{disabled}{:fail: This mailbox is disabled}\\
         {\${if eq{$local_part}{later}{:defer: Not today}{}}}}
users:
  driver = accept
  domains = here.test
  local_parts = ann : bob
  transport = nowhere
everybody:
  driver = accept
  domains = all.test
  transport = nowhere

begin transports
nowhere:
  driver = appendfile
  file = /dev/null
`;

export const EXIM: Recipe = {
  debian: "exim4-daemon-light",
  accounts: ["Debian-exim"],
  files: () => ({ "/etc/exim4/exim4.conf": CONFIG }),
  start: (port) => `
mkdir -p /var/spool/exim4 /var/log/exim4
chown -R Debian-exim:Debian-exim /var/spool/exim4 /var/log/exim4 /etc/mail-test
exim4 -bd -oX 127.0.0.1.${port} -oP "" &
`,
};
