// Replaces the MCP SDK's validator in bundles. The validator (Ajv, 150 KB) is for forms that a server asks its client
// to fill in. This server asks for none, and the endpoints check the arguments of tools.

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server asks for no forms.");
  }
}
