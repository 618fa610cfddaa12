import { toMailServers } from "../reach/mail.ts";
import { probing } from "../reach/prober.ts";
import { awsWorld } from "../world.ts";

export const handler = probing(awsWorld(toMailServers).engine.probe);
