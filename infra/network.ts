// Only the prober is in here. Two zones, a NAT gateway with a fixed address in each: those addresses are our name with
// mail servers, so they have reverse DNS and outlive every deployment.

export const network = new sst.aws.Vpc("Egress", {
  az: 2,
  nat: "managed",
  transform: {
    elasticIp: (_args, options) => {
      options.retainOnDelete = $app.removal !== "remove";
    },
  },
});

/** Nobody ever calls the prober over the network, so nothing may come in. */
export const guard = new aws.ec2.SecurityGroup("ProberGuard", {
  vpcId: network.id,
  description: "The prober: out to mail servers and name servers, nothing in",
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
