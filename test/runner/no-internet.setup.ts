import { setServers } from "node:dns";
import { syncBuiltinESMExports } from "node:module";

// The machine that runs the tests may have the internet or not: its own name servers are replaced by a closed port, so a name
// that belongs to no test cannot be resolved, and this is known at once.

setServers(["127.0.0.1:1"]);
// `setServers` makes a new resolver, which modules see only after this.
syncBuiltinESMExports();
