import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LabOptions, LabStats } from "@mailproof/lab/lab";
import type { LabAddress } from "./engine/job.ts";
import { ZONE } from "./engine/lists.ts";
import { type Api, createApi } from "./http-api.ts";
import { receiveMessage } from "./receive-message.ts";
import { type Server, startServer } from "./server.ts";

export type Network = Awaited<ReturnType<typeof startNetwork>>;

/** The lab's mail network in its own process, so that the processor time of a client is the client's alone. */
export const startNetwork = async (options: LabOptions) => {
  const file = fileURLToPath(new URL("engine/lab-process.ts", import.meta.url));
  const child = fork(file, [JSON.stringify(options)], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const address = await receiveMessage<LabAddress>(child);
  const stats = (): Promise<LabStats> => {
    child.send("counts");
    return receiveMessage<LabStats>(child);
  };
  const end = (): void => {
    if (child.connected) child.disconnect();
  };
  return { address, stats, end };
};

type Running = {
  readonly api: Api;
  readonly server: Server;
  readonly network: Network;
  readonly folder: string;
};

/** A server of a tree before its own network. It starts with the state that `prepare` writes, or with nothing. */
export const withServer = async <T>(
  {
    lab,
    tree,
    prepare,
  }: { lab: LabOptions; tree?: string; prepare?: (folder: string) => Promise<void> },
  run: (running: Running) => Promise<T>,
): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const network = await startNetwork({ zone: ZONE, ...lab });
  const { dns, smtpPort, smtpAddresses } = network.address;
  try {
    await prepare?.(folder);
    const env = { DNS_SERVERS: dns, SMTP_PORT: `${smtpPort}`, SMTP_ALLOW_PRIVATE: smtpAddresses };
    const server = await startServer(folder, env, tree);
    const api = createApi(server.ready.base_url, server.ready.live_key);
    try {
      return await run({ api, server, network, folder });
    } finally {
      await server.kill();
    }
  } finally {
    network.end();
    rmSync(folder, { recursive: true, force: true });
  }
};
