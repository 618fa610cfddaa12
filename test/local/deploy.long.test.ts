import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { endWithTest } from "../runner/eventually.ts";
import { createFolder, whenStarted } from "../servers/running.ts";

// The files of deploy/, in the programs that they are for.

const findAbsence = (program: string): string | null =>
  ["/usr/sbin", "/usr/bin"].some((folder) => existsSync(join(folder, program)))
    ? null
    : `there is no ${program}`;

const HOST = "api.example.com";

const findFreePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

type Call = { readonly method?: string; readonly path: string; readonly key?: string };

/** Over TLS, with a certificate that is made for the test. */
const call = async (port: number, { method = "GET", path, key }: Call, body?: Buffer | string) => {
  const headers = {
    host: HOST,
    ...(key && { "x-api-key": key }),
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  const sent = request({
    host: "127.0.0.1",
    port,
    method,
    path,
    headers,
    servername: HOST,
    rejectUnauthorized: false,
    agent: false,
  });
  const received = new Promise<{ status: number; body: string }>((resolve, reject) => {
    sent.on("error", reject).on("response", (response) => {
      const { statusCode: status = 0 } = response;
      text(response).then((body) => resolve({ status, body }), reject);
    });
  });
  sent.end(body);
  return received;
};

type StartProxy = (folder: string, port: number, server: string) => ChildProcess;

const startUntilEnd = (command: string, args: readonly string[], env = {}): ChildProcess =>
  endWithTest(spawn(command, args, { env: { ...process.env, ...env }, stdio: "ignore" }));

const startNginx: StartProxy = (folder, port, server) => {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const subject = ["-subj", `/CN=${HOST}`, "-days", "2"];
  const files = ["-keyout", key, "-out", certificate];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...files, ...subject], {
    stdio: "ignore",
  });
  const site = readFileSync("deploy/nginx.conf", "utf8")
    .replace("/etc/ssl/mailproof/fullchain.pem", certificate)
    .replace("/etc/ssl/mailproof/privkey.pem", key)
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace("server 127.0.0.1:8787", `server ${server}`);
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const file = join(folder, "nginx.conf");
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors; events {}
    http { access_log off; ${folders.join(" ")} ${site} }`,
  );
  return startUntilEnd("nginx", ["-c", file]);
};

const startCaddy: StartProxy = (folder, port, server) => {
  const file = join(folder, "Caddyfile");
  const own = `{
    admin off
    auto_https disable_redirects
    skip_install_trust
    https_port ${port}
    local_certs
  }\n`;
  writeFileSync(file, own + readFileSync("deploy/Caddyfile", "utf8"));
  const env = { HOME: folder, MAILPROOF_HOST: HOST, MAILPROOF_SERVER: server };
  return startUntilEnd("caddy", ["run", "--adapter", "caddyfile", "--config", file], env);
};

const STARTS_MAX = 5;

const whenBehind = async (startProxy: StartProxy) => {
  const folder = createFolder();
  // A proxy may work as another user, and has its files here.
  chmodSync(folder, 0o755);
  const { ready } = await whenStarted(createFolder(), [], { PUBLIC_URL: `https://${HOST}` });
  for (let tries = 0; tries < STARTS_MAX; tries++) {
    const port = await findFreePort();
    const proxy = startProxy(folder, port, new URL(ready.base_url).host);
    const exited = once(proxy, "exit").then(() => true);
    const isUp = () =>
      call(port, { path: "/health" }).then(
        ({ status }) => status === 200,
        () => false,
      );
    // Another process may have taken the port meanwhile; then the proxy has ended.
    let hasExited = false;
    while (!hasExited) {
      if (await Promise.race([isUp(), exited.then(() => false)]))
        return { port, key: ready.live_key };
      hasExited = await Promise.race([exited, setTimeout(50, false)]);
    }
  }
  throw new Error("the proxy does not start");
};

const PROXIES = { nginx: startNginx, caddy: startCaddy };

for (const [program, startProxy] of Object.entries(PROXIES))
  describeUnless(findAbsence(program), `the server behind ${program}`, () => {
    test("the server verifies an address over TLS, and its documents contain PUBLIC_URL", async () => {
      const { port, key } = await whenBehind(startProxy);
      const body = JSON.stringify({ email: "ada.lovelace@valid.lab.mailproof.test" });

      const verified = await call(port, { method: "POST", path: "/v1/verify", key }, body);
      const document = await call(port, { path: "/openapi.json" });

      expect(JSON.parse(verified.body)).toMatchObject({ data: { status: "valid" } });
      expect(JSON.parse(document.body)).toMatchObject({ servers: [{ url: `https://${HOST}` }] });
    });

    test("the server receives a list of many megabytes and answers 413 above the limit", async () => {
      const { port, key } = await whenBehind(startProxy);
      const post = (bytes: number) =>
        call(port, { method: "POST", path: "/v1/verify/batch", key }, randomBytes(bytes));

      // The server itself refuses what is not JSON: the proxy has let it through.
      expect(JSON.parse((await post(4_000_000)).body)).toMatchObject({ success: false });
      expect((await post(53_000_000).catch(() => ({ status: 413 }))).status).toBe(413);
    });
  });

describeUnless(findAbsence("systemd-analyze"), "the unit of systemd", () => {
  test("systemd accepts the unit and rates its exposure as low", () => {
    const folder = createFolder();
    const program = join(folder, "mailproof");
    writeFileSync(program, "", { mode: 0o755 });
    const unit = join(folder, "mailproof.service");
    const text = readFileSync("deploy/mailproof.service", "utf8");
    writeFileSync(unit, text.replaceAll("/usr/local/bin/mailproof", program));
    const analyse = (...args: string[]) =>
      execFileSync("systemd-analyze", [...args, unit], { encoding: "utf8", stdio: "pipe" });

    expect(analyse("verify")).toBe("");
    for (const name of ["mailproof-backup.service", "mailproof-backup.timer"])
      writeFileSync(
        join(folder, name),
        readFileSync(`deploy/${name}`, "utf8").replaceAll("/usr/local/bin/mailproof", program),
      );
    const timer = join(folder, "mailproof-backup.timer");
    expect(execFileSync("systemd-analyze", ["verify", timer], { encoding: "utf8" })).toBe("");
    expect(analyse("security", "--offline=true")).toMatch(/exposure level .*: 1\.\d OK/);
  });
});
