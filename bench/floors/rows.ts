import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";

// The floor of a row: a client that asks mail hosts about the recipients of a file, `size` of them and a random one in each
// session. It sends its processor time (s) to its parent.

const [, , file = "", dns = "", port, size] = process.argv;
const SESSIONS = 20;
const FLIGHT = 9;

/** Sends the commands of a flight together, and counts their replies: the last line of each has a space after its code. */
const converse = async (host: string, recipients: readonly string[]): Promise<void> => {
  const socket = connect(Number(port), host).setEncoding("latin1").setNoDelay();
  let [text, missing] = ["", 1];
  let onReplies = Promise.withResolvers<void>();
  socket.on("data", (data: string) => {
    const lines = (text + data).split("\r\n");
    text = lines.pop() ?? "";
    missing -= lines.filter((line) => line[3] === " ").length;
    if (missing <= 0) onReplies.resolve();
  });
  socket.on("error", onReplies.reject);
  const send = async (...commands: readonly string[]): Promise<void> => {
    await onReplies.promise;
    onReplies = Promise.withResolvers();
    missing = commands.length;
    socket.write(`${commands.join("\r\n")}\r\n`);
  };
  await send("EHLO probe.example");
  await send("MAIL FROM:<probe@example.org>");
  const asked = recipients.map((recipient) => `RCPT TO:<${recipient}>`);
  for (let from = 0; from < asked.length; from += FLIGHT)
    await send(...asked.slice(from, from + FLIGHT));
  await send("RSET", "QUIT");
  await once(socket, "close");
};

const before = process.cpuUsage();
const resolver = new Resolver();
resolver.setServers([dns]);
const domains = Map.groupBy(
  readFileSync(file, "utf8").split("\n"),
  (email) => email.split("@")[1] ?? "",
);
const sessions: (readonly [host: string, recipients: readonly string[]])[] = [];
for (const [domain, recipients] of domains) {
  const [mx] = await resolver.resolveMx(domain);
  const [host = ""] = await resolver.resolve4(mx?.exchange ?? "");
  for (let from = 0; from < recipients.length; from += Number(size)) {
    const some = recipients.slice(from, from + Number(size));
    sessions.push([host, [...some, `${Math.random().toString(36).slice(2)}@${domain}`]]);
  }
}
const run = async (): Promise<void> => {
  for (let next = sessions.pop(); next; next = sessions.pop()) await converse(...next);
};
await Promise.all(Array.from({ length: SESSIONS }, run));
const { user, system } = process.cpuUsage(before);
process.send?.((user + system) / 1e6);
process.disconnect();
