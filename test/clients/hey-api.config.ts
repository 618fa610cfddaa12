export default {
  input: new URL("generated/openapi.json", import.meta.url).pathname,
  output: {
    path: new URL("generated/hey-api", import.meta.url).pathname,
    // So that Node runs it as it is.
    module: { extension: ".ts" },
    tsConfigPath: null,
  },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
};
