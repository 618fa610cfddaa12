declare module "swagger-client" {
  const SwaggerClient: (options: object) => Promise<{
    execute: (request: object) => Promise<{ status: number; body: any }>;
  }>;
  export default SwaggerClient;
}
