import { withMailServers } from "../reach/mail.ts";
import { createProberHandler } from "../reach/prober.ts";
import { createBaseContext } from "../world.ts";

export const handler = createProberHandler(withMailServers(createBaseContext()).engine.probe);
