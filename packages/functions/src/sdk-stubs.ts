// Replace parts of the SDKs in bundles that no Lambda uses. A test notices when such a part is loaded.

/** The MCP SDK's validator (Ajv, 150 KB) is for forms that a server asks its client to fill in. The endpoints check the arguments of tools. */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server asks for no forms.");
  }
}

/**
 * The chain of credential providers (135 KB): files of profiles, single sign-on, metadata services. A Lambda has the credentials of its role
 * in its environment, and every client is given them.
 */
export const defaultProvider = () => (): never => {
  throw new Error("Credentials are given to every client.");
};

/** Endpoint discovery (8 KB, most of it a cache): no command of ours asks for its endpoint. */
export const resolveEndpointDiscoveryConfig = <C>(config: C): C => config;

export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
};

/** Event streams (15 KB): our commands send and receive none. */
export const resolveEventStreamSerdeConfig = <C>(config: C): C => config;

export const eventStreamSerdeProvider = (): never => {
  throw new Error("No command of ours streams events.");
};

export const EventStreamSerde = eventStreamSerdeProvider;
