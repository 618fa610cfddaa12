import { isPermanent } from "./lifecycle.ts";
import { readSize } from "./size.ts";
import { ZONES } from "./topology.ts";

// Only Lambdas that talk to mail servers run in the VPC. Each of its two zones has a NAT gateway with a fixed address.
// The service's reputation with mail servers depends on those addresses, so they have reverse DNS and outlive every
// deployment. A lean stage uses one small instance with one address instead, at a tenth of the price.

export const network = new sst.aws.Vpc("Egress", {
  ...(readSize($app.stage, process.env) === "full"
    ? { az: ZONES.length, nat: "managed" }
    : { az: 1, nat: "ec2" }),
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

/** Gateway endpoints reach DynamoDB and S3 inside AWS at no charge; a NAT gateway costs money for every byte. */
for (const service of ["dynamodb", "s3"])
  new aws.ec2.VpcEndpoint(`To${service}`, {
    vpcId: network.id,
    vpcEndpointType: "Gateway",
    serviceName: $interpolate`com.amazonaws.${region}.${service}`,
    routeTableIds,
  });
