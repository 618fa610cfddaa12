import { once } from "node:events";
import { rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { within } from "@mailproof/core/within";
import { schedules, workers } from "@mailproof/core/workers";
import { MCP_PATH } from "@mailproof/mcp/serve";
import { runBackground } from "./background.ts";
import { blobSweeper } from "./blob-sweeper.ts";
import { clockWatch } from "./clock-watch.ts";
import { type Demo, demoAccountIn } from "./demo.ts";
import { countFreeDescriptors, shareDescriptors } from "./descriptors.ts";
import type { Environment } from "./environment.ts";
import { clearUnfinished } from "./file-blobs.ts";
import { lockFolder } from "./folder-lock.ts";
import { forgetAll } from "./fresh.ts";
import { type Lab, startLab } from "./lab/lab.ts";
import { wantsLab } from "./mail-doors.ts";
import { ownErrorWatch } from "./own-error-watch.ts";
import { server } from "./server.ts";
import { isDamage, messageOf } from "./sqlite.ts";
import { assertDemoThere, assertLatest, generations, noteDemo, REMEDY } from "./state-folder.ts";
import { sweeper } from "./sweeper.ts";
import { writeWhole } from "./whole-file.ts";
import { type House, openHouse } from "./world.ts";

const HOST = "127.0.0.1";
/** So long a stop waits for requests, and for what workers have in hand: a slow mail server can keep one for minutes. */
const DRAIN_MS = 10_000;

export type Running = {
  readonly baseUrl: string;
  readonly mcpUrl: string;
  readonly version: string;
  /** Null: the setting DEMO is off. */
  readonly demo: Demo | null;
  /**
   * Takes no more requests, finishes those under way and what the workers hold, then closes the files. What takes too
   * long is left as a crash would leave it: it comes back at the next start.
   */
  readonly stop: () => Promise<void>;
};

/** The whole product in one process. Returns when it answers. Fresh: forgets what the folder holds. */
export const start = async (environment: Environment, fresh: boolean): Promise<Running> => {
  const directory = environment.MAILPROOF_DIR;
  const lock = lockFolder(directory);
  if (fresh) forgetAll(directory);
  if (environment.DEMO === "on") assertDemoThere(directory);
  const readyFile = join(directory, "ready.json");
  let baseUrl = "";
  const linkBase = () => environment.PUBLIC_URL?.replace(/\/$/, "") ?? baseUrl;
  // The pretend mail network answers as long as the server does; scripts find it in ready.json.
  const lab = wantsLab(environment) ? await startLab() : null;
  const { world, health, openLink, close } = await openSound(environment, linkBase, lab);
  rmSync(readyFile, { force: true });
  // The folder is ours alone, so whoever had messages in hand is gone.
  await world.queue.takeBack();
  const blobs = join(directory, "blobs");
  clearUnfinished(blobs);

  const listening = await listen(server(world, openLink), environment.PORT);
  baseUrl = `http://${HOST}:${(listening.address() as AddressInfo).port}`;
  const mcpUrl = baseUrl + MCP_PATH;
  const demo = environment.DEMO === "on" ? await demoAccountIn(directory, world) : null;
  if (demo) noteDemo(directory);

  const stopping = new AbortController();
  const background = runBackground(
    world,
    {
      workers,
      schedules: [
        ...schedules,
        clockWatch(),
        ownErrorWatch(),
        sweeper(world.table),
        blobSweeper(blobs),
        generations(directory, world.table),
        health.schedule,
      ],
    },
    stopping.signal,
  );

  writeWhole(readyFile, {
    base_url: baseUrl,
    ...demo,
    mcp_url: mcpUrl,
    ...placeOf(lab),
  });

  const stop = async () => {
    rmSync(readyFile, { force: true });
    stopping.abort();
    await within(world, DRAIN_MS, Promise.all([drain(listening), background]));
    // First the table: whoever is still at work must not write down that a host of the lab fell silent.
    close();
    await lab?.close();
    lock.release();
  };
  return { baseUrl, mcpUrl, version: world.settings.version, demo, stop };
};

/** Refuses a folder whose state cannot be read, or is behind. */
const openSound = async (
  environment: Environment,
  linkBase: () => string,
  lab: Lab | null,
): Promise<House> => {
  try {
    const house = openHouse(environment, linkBase, lab);
    await assertLatest(environment.MAILPROOF_DIR, house.world.table);
    await house.health.assertSound();
    return house;
  } catch (error) {
    throw isDamage(error) ? new Error(`${messageOf(error)}. ${REMEDY}`, { cause: error }) : error;
  }
};

const placeOf = (lab: Lab | null) => ({
  dns: lab?.dns ?? null,
  smtp: lab && { port: lab.smtpPort, addresses: lab.smtpAddresses },
});

const listen = async (one: Server, port: number): Promise<Server> => {
  // One connection more is closed at once, and no descriptor is taken from the work that goes on.
  one.maxConnections = shareDescriptors(countFreeDescriptors()).connections;
  one.listen(port, HOST);
  await once(one, "listening");
  return one;
};

const drain = async (listening: Server): Promise<void> => {
  const closed = once(listening, "close");
  listening.close();
  await closed;
};
