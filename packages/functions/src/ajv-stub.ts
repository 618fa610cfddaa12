// Stands in bundles for what the MCP SDK takes from its platform. Its validator (Ajv, 150 KB) is for forms that a
// server asks its client to fill in. We ask for none, and arguments of tools are checked by the endpoints.

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server asks for no forms.");
  }
}
