import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Endpoint } from "@mailproof/api/endpoint";
import { server } from "@mailproof/local/server";
import { onTestFinished } from "vitest";
import { given } from "../given.ts";

/** The real server, with these routes and one account. */
export const whenListening = async (...listed: readonly Endpoint[]) => {
  const house = await given();
  const listening = server(house.world, () => undefined, listed).listen(0, "127.0.0.1");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  return { ...house, port: (listening.address() as AddressInfo).port };
};
