// Replaces the SDK's endpoint discovery in bundles (8 KB, most of it a cache): no command of ours asks for its endpoint.

export const resolveEndpointDiscoveryConfig = <C>(config: C): C => config;

export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
};
