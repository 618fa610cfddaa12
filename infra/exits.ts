import { createCloudInit } from "./cloud-init.ts";
import { isPermanent } from "./lifecycle.ts";
import { network, vpc } from "./network.ts";
import { smtpProxies } from "./secrets.ts";
import { settings } from "./stage.ts";

// SST reads the configuration before it installs this package, so nothing may need it until a stage is made.
const { RandomPassword } = await import("@pulumi/random");

// This file creates EXITS instances. Each runs deploy/exit with an address of its own, since mail providers limit each address
// separately. AWS has to open port 25 for these addresses, too (docs/egress.md).

/** The AWS account with which Debian publishes its images. */
const DEBIAN = "136693071363";
const SOCKS_PORT = 1080;
/** An exit connects to mail servers and to Debian's packages. AWS's resolver needs no rule. */
const PORTS_OUT = [25, 80, 443];

const openTcp = (port: number) => ({ protocol: "tcp", fromPort: port, toPort: port });

const createExits = (own: sst.aws.Vpc, guards: $util.Input<string>[]) => {
  const guard = new aws.ec2.SecurityGroup("ExitGuard", {
    vpcId: own.id,
    description: "In from the Lambdas that talk to mail servers, out to mail servers",
    ingress: [{ ...openTcp(SOCKS_PORT), securityGroups: guards }],
    egress: PORTS_OUT.map((port) => ({ ...openTcp(port), cidrBlocks: ["0.0.0.0/0"] })),
  });
  const image = aws.ec2.getAmiOutput({
    owners: [DEBIAN],
    mostRecent: true,
    filters: [{ name: "name", values: ["debian-12-arm64-*"] }],
  });
  return Array.from({ length: settings.exits }, (_, index) =>
    createExit(index + 1, own, guard, image.id),
  );
};

const createExit = (
  number: number,
  own: sst.aws.Vpc,
  guard: aws.ec2.SecurityGroup,
  ami: $util.Input<string>,
) => {
  const name = `Exit${number}`;
  // The interface and its address stay when the machine is replaced, and are there when it starts.
  const card = new aws.ec2.NetworkInterface(`${name}Card`, {
    subnetId: own.publicSubnets.apply((ids) => ids[number % ids.length] ?? ""),
    securityGroups: [guard.id],
  });
  const address = new aws.ec2.Eip(
    `${name}Address`,
    {
      domain: "vpc",
      networkInterface: card.id,
      tags: { Name: `${$app.name}-${$app.stage}-${name}` },
    },
    { retainOnDelete: isPermanent($app.stage) },
  );
  const password = new RandomPassword(`${name}Password`, { length: 40, special: false });
  const lines = $util.all([address.publicIp, own.nodes.vpc.cidrBlock, password.result]);
  new aws.ec2.Instance(
    `${name}Machine`,
    {
      ami,
      instanceType: "t4g.nano",
      networkInterfaces: [{ deviceIndex: 0, networkInterfaceId: card.id }],
      metadataOptions: { httpEndpoint: "enabled", httpTokens: "required" },
      rootBlockDevice: { encrypted: true },
      userData: lines.apply(([publicIp, cidr, secret]) =>
        createCloudInit(
          `HELO=${process.env["SMTP_HELLO"]}\nADDRESS=${publicIp}\nALLOW=${cidr}\nPASSWORD=${secret}\n`,
          $cli.paths.root,
        ),
      ),
      userDataReplaceOnChange: true,
      tags: { Name: `${$app.name}-${$app.stage}-${name}` },
    },
    // A newer image replaces no machine, because machines update themselves, and an interface belongs to one machine.
    { ignoreChanges: ["ami"], deleteBeforeReplace: true },
  );
  return {
    publicIp: address.publicIp,
    proxy: $interpolate`socks5://mailproof:${password.result}@${card.privateIp}:${SOCKS_PORT}`,
  };
};

const exits = settings.exits > 0 && vpc && network ? createExits(vpc, network.securityGroups) : [];

/** The addresses of the exits, for which the operator sets reverse names. */
export const exitAddresses = $util.all(exits.map(({ publicIp }) => publicIp));

/** The proxies of the operator and those of the stage's own exits. */
export const proxies = $util
  .all([smtpProxies.value, ...exits.map(({ proxy }) => proxy)])
  .apply((urls) => urls.filter((url) => url !== "").join(","));
