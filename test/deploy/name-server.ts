// node test/deploy/name-server.ts ZONE: the lab's name server where resolvers look for one. It prints a line when it is there.
import { startDnsServer } from "@mailproof/lab/dns-server";

const DNS_PORT = 53;
const { address } = await startDnsServer({ "": JSON.parse(process.argv[2] ?? "{}") }, DNS_PORT);
console.log(address);
