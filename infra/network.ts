import { isPermanent } from "./lifecycle.ts";
import { ZONES } from "./topology.ts";

// Only those who talk to mail servers are in here. Two zones, a NAT gateway with a fixed address in each: those addresses are our name with
// mail servers, so they have reverse DNS and outlive every deployment. A stage of one's own makes do with one small
// machine, at a tenth of the price.

export const network = new sst.aws.Vpc("Egress", {
  ...(isPermanent($app.stage) ? { az: ZONES.length, nat: "managed" } : { az: 1, nat: "ec2" }),
  transform: {
    elasticIp: (_args, options) => {
      options.retainOnDelete = isPermanent($app.stage);
    },
  },
});

/** No client calls these Lambdas over the network, so inbound traffic is refused. */
export const securityGroup = new aws.ec2.SecurityGroup("EgressGuard", {
  vpcId: network.id,
  description: "Out to mail servers and name servers, nothing in",
  ingress: [],
  egress: [{ protocol: "-1", fromPort: 0, toPort: 0, cidrBlocks: ["0.0.0.0/0"] }],
});

const region = aws.getRegionOutput({}).region;
const routeTableIds = network.nodes.privateRouteTables.apply((tables) =>
  tables.map(({ id }) => id),
);

/** To AWS's own stores the way is inside, and costs nothing: a NAT gateway takes money for every byte. */
for (const service of ["dynamodb", "s3"])
  new aws.ec2.VpcEndpoint(`To${service}`, {
    vpcId: network.id,
    vpcEndpointType: "Gateway",
    serviceName: $interpolate`com.amazonaws.${region}.${service}`,
    routeTableIds,
  });
