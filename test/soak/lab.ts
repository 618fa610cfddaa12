import { startLab } from "@mailproof/lab/lab";
import { HOSTS_BLOCK } from "@mailproof/lab/network";
import { SENDERS_BLOCK } from "@mailproof/lab/senders";

// The lab in its own process. It ends with the process that started it.

const lab = await startLab();

process.on("disconnect", () => {
  void lab.close().then(() => process.exit(0));
});
process.send?.({
  DNS_SERVERS: lab.dns,
  SMTP_PORT: String(lab.smtpPort),
  SMTP_ALLOW_PRIVATE: [HOSTS_BLOCK, SENDERS_BLOCK].join(","),
});
