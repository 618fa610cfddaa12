import { api, httpLambdas } from "./api.ts";
import { exitAddresses } from "./exits.ts";
import { url } from "./front.ts";
import { prober, versions } from "./functions.ts";
import { feedback } from "./mail-topic.ts";
import { vpc } from "./network.ts";
import { createParameterNamer } from "./parameters.ts";
import { getQueue } from "./queues.ts";
import { QUOTA } from "./quota.ts";
import { settings } from "./stage.ts";
import { table } from "./storage.ts";
import { prober as proberLambda, queues, VERSIONS } from "./topology.ts";
import { uploadLimitLambda } from "./upload-limit.ts";
import { scheduleLambdas, workerLambdas } from "./workers.ts";

// Publishes the names that AWS generated, for the monitoring stack (infra/cdk), which is deployed separately.

const publish = (key: string, value: $util.Input<string>) =>
  new aws.ssm.Parameter(`Name-${key.replaceAll(/\W/g, "-")}`, {
    name: createParameterNamer($app.name, $app.stage)(key),
    type: "String",
    value,
  });

publish(QUOTA, String(settings.quota));
publish(VERSIONS, $util.jsonStringify(Object.fromEntries(versions)));
publish("api", api.nodes.api.id);
publish("table", table.name);
publish("feedback", feedback.arn);
publish("url", url);
if (vpc) {
  publish(
    "egress",
    vpc.nodes.elasticIps
      .apply((ips) => $util.all(ips.map((ip) => ip.publicIp)))
      .apply((ips) => ips.join(",")),
  );
  if (settings.vpc === "own")
    vpc.nodes.natGateways.apply((gateways) =>
      gateways.map(({ id }, zone) => publish(`nat/${zone}`, id)),
    );
}
if (settings.exits > 0)
  publish(
    "exits",
    exitAddresses.apply((addresses) => addresses.join(",")),
  );
for (const { name } of queues) publish(`queue/${name}`, getQueue(name).nodes.queue.name);
for (const { lambda, made } of [
  { lambda: proberLambda, made: prober },
  uploadLimitLambda,
  ...httpLambdas,
  ...workerLambdas,
  ...scheduleLambdas,
])
  publish(`lambda/${lambda.name}`, made.name);
