import { spawn } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { BenchVerdict, LabAddress } from "./job.ts";

// The crate check-if-email-exists, by the program in bench/reacher. It asks the name server of /etc/resolv.conf, so it
// runs with its own file there, in a mount namespace of its own, before a lab whose name server has port 53.

export const REACHER = "check-if-email-exists";

const BINARY = fileURLToPath(new URL("../reacher/target/release/reacher-lines", import.meta.url));

/** Why it cannot be measured here, or null. */
export const findReacherObstacle = (): string | null => {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "needs root on Linux, for a name server on port 53";
  return existsSync(BINARY)
    ? null
    : "not built: cargo build --release --manifest-path bench/reacher/Cargo.toml";
};

type ReacherOutput = {
  readonly input: string;
  readonly is_reachable: "safe" | "risky" | "invalid" | "unknown";
  readonly smtp?: { readonly is_catch_all?: boolean };
};

const toVerdict = ({ is_reachable: word, smtp }: ReacherOutput): BenchVerdict => {
  if (word === "safe") return "valid";
  return word === "risky" && smtp?.is_catch_all ? "catch_all" : word;
};

export const openReacher = (labAddress: LabAddress) => {
  const waiting = new Map<string, (verdict: BenchVerdict) => void>();
  const started = startSocksToLab(labAddress).then((port) => {
    const names = join(mkdtempSync(join(tmpdir(), "mailproof-bench-")), "resolv.conf");
    writeFileSync(names, "nameserver 127.0.0.1\n");
    const child = spawn(
      "unshare",
      [
        "--mount",
        "sh",
        "-c",
        'mount --bind "$1" /etc/resolv.conf && exec "$2"',
        "sh",
        names,
        BINARY,
      ],
      {
        env: { ...process.env, SOCKS_PORT: String(port) },
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    createInterface({ input: child.stdout }).on("line", (line) => {
      const output = JSON.parse(line) as ReacherOutput;
      waiting.get(output.input)?.(toVerdict(output));
    });
    return child;
  });
  return async (address: string): Promise<BenchVerdict> => {
    const child = await started;
    return new Promise((resolve) => {
      waiting.set(address, resolve);
      child.stdin.write(`${address}\n`);
    });
  };
};

// A peer in another language cannot be led to the lab from within. One that takes a SOCKS proxy is led here: whatever
// host it names, its port 25 is the lab's.

const NO_PASSWORD = Buffer.from([5, 0]);
const CONNECTED = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

/** As much of SOCKS 5 (RFC 1928) as a client needs that has no password and names its host. */
const startSocksToLab = async ({ dns, smtpPort }: LabAddress): Promise<number> => {
  const resolver = new Resolver();
  resolver.setServers([dns]);
  const serve = async (client: Socket): Promise<void> => {
    await once(client, "readable");
    client.read();
    client.write(NO_PASSWORD);
    await once(client, "readable");
    const request: Buffer = client.read() ?? Buffer.alloc(0);
    const host = request.toString("latin1", 5, 5 + (request[4] ?? 0));
    const [ip = ""] = await resolver.resolve4(host);
    const server = connect({ host: ip, port: smtpPort });
    server.on("error", () => client.destroy());
    client.on("error", () => server.destroy());
    await once(server, "connect");
    client.write(CONNECTED);
    client.pipe(server).pipe(client);
  };
  const listener = createServer((client) => {
    client.on("error", () => client.destroy());
    serve(client).catch(() => client.destroy());
  });
  listener.listen(0, "127.0.0.1").unref();
  await once(listener, "listening");
  return (listener.address() as AddressInfo).port;
};
