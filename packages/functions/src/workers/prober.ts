import { toMailServers } from "../reach/mail.ts";
import { probing } from "../reach/prober.ts";
import { awsGround } from "../world.ts";

export const handler = probing(toMailServers(awsGround()).engine.probe);
