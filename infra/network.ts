import { isPermanent } from "./lifecycle.ts";
import { settings } from "./stage.ts";
import { ZONES } from "./topology.ts";

// Only Lambdas that talk to mail servers run in the VPC. Each of its two zones has a NAT gateway with a fixed address.
// The service's reputation with mail servers depends on those addresses, so they have reverse DNS and outlive every
// deployment. In a lean stage one small instance with one address takes their place, at a tenth of the price; or a stage uses
// the VPC of another one, or none: an AWS account may have five VPCs and five addresses in a region.

const { size, vpc: choice } = settings;

const createOwn = () =>
  new sst.aws.Vpc("Egress", {
    ...(size === "full" ? { az: ZONES.length, nat: "managed" } : { az: 1, nat: "ec2" }),
    transform: {
      elasticIp: (_args, options) => {
        options.retainOnDelete = isPermanent($app.stage);
      },
    },
  });

export const vpc =
  choice === "none" ? null : choice === "own" ? createOwn() : sst.aws.Vpc.get("Egress", choice);

/** No client calls these Lambdas over the network, so inbound traffic is refused. */
const createSecurityGroup = (vpcId: $util.Output<string>) =>
  new aws.ec2.SecurityGroup("EgressGuard", {
    vpcId,
    description: "Out to mail servers and name servers, nothing in",
    ingress: [],
    egress: [{ protocol: "-1", fromPort: 0, toPort: 0, cidrBlocks: ["0.0.0.0/0"] }],
  });

/** The VPC of Lambdas that talk to mail servers. Null: they run outside of any VPC and reach only SOCKS5 proxies. */
export const network = vpc && {
  privateSubnets: vpc.privateSubnets,
  securityGroups: [createSecurityGroup(vpc.id).id],
};

/** Gateway endpoints reach DynamoDB and S3 inside AWS at no charge; a NAT gateway costs money for every byte. */
const createEndpoints = ({ id, nodes }: sst.aws.Vpc) => {
  const region = aws.getRegionOutput({}).region;
  const routeTableIds = nodes.privateRouteTables.apply((tables) => tables.map(({ id }) => id));
  for (const service of ["dynamodb", "s3"])
    new aws.ec2.VpcEndpoint(`To${service}`, {
      vpcId: id,
      vpcEndpointType: "Gateway",
      serviceName: $interpolate`com.amazonaws.${region}.${service}`,
      routeTableIds,
    });
};

// The VPC of another stage already has these endpoints.
if (vpc && choice === "own") createEndpoints(vpc);
