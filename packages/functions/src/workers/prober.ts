import { withMailServers } from "../capabilities/mail-servers.ts";
import { createProberHandler } from "../capabilities/prober.ts";
import { createBaseContext } from "../lambda-world.ts";

export const handler = createProberHandler(withMailServers(createBaseContext()).engine.probe);
