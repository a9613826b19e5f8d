import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { describe, expect, test } from "vitest";
import { startCommittee } from "./support/committee.js";

/** The proxies are Debian's packages nginx-light and caddy: not all machines have them. */
const has = (program: string) => spawnSync(program, ["-v"]).error === undefined;

const { providers, body, start } = await startCommittee(4);

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** A site of nginx without its certificate, at a port of this machine. */
const withoutTls = (site: string, port: number, target: string) =>
  site
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
    .replace(/ *ssl_certificate.*\n/g, "")
    .replace(/proxy_pass http:\/\/127\.0\.0\.1:\d+/, `proxy_pass ${target}`);

const PLAIN = "server {\n    listen 443 ssl;\n    location / { proxy_pass http://127.0.0.1:8080; }\n}\n";

async function startNginx(site: string, target: string): Promise<string> {
  const [folder, port] = [mkdtempSync(join(tmpdir(), "nginx-")), await freePort()];
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `daemon off; pid ${folder}/pid; error_log stderr;
    events {} http { access_log off; ${paths.join(" ")} ${withoutTls(site, port, target)} }`;
  writeFileSync(join(folder, "nginx.conf"), config);
  return startProxy("nginx", ["-e", "stderr", "-c", join(folder, "nginx.conf")], port);
}

async function startCaddy(site: string, target: string): Promise<string> {
  const [folder, port] = [mkdtempSync(join(tmpdir(), "caddy-")), await freePort()];
  const text = site.replace(/^\S+ \{/m, `http://127.0.0.1:${port} {`).replace(/127\.0\.0\.1:\d+$/m, target);
  writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${text}`);
  const args = ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
  return startProxy("caddy", args, port, { HOME: folder });
}

async function startProxy(program: string, args: readonly string[], port: number, env = {}): Promise<string> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  closeAtEnd(async () => void child.kill());
  const url = `http://127.0.0.1:${port}`;
  await expect
    .poll(
      () =>
        fetch(url).then(
          () => "listens",
          () => errors,
        ),
      { timeout: 30_000 },
    )
    .toBe("listens");
  return url;
}

describe.each<[string, string, (target: string) => Promise<string>, isForwarding: boolean]>([
  ["nginx", "its defaults", (target) => startNginx(PLAIN, target), false],
  ["nginx", "the documented site", (target) => startNginx(read("operator/deploy/nginx.conf"), target), true],
  ["nginx", "the provider's site", (target) => startNginx(read("provider/deploy/nginx.conf"), target), true],
  ["caddy", "the documented site", (target) => startCaddy(read("operator/deploy/Caddyfile"), target), true],
  ["caddy", "the provider's site", (target) => startCaddy(read("provider/deploy/Caddyfile"), target), true],
])("behind %s with %s", (program, _, startIt, isForwarding) => {
  test.skipIf(!has(program))(
    "an event stream arrives step by step, with the caller's address where that is said",
    async () => {
      const operator = await start({}, { trustedProxies: ["127.0.0.1"] });
      const url = await startIt(operator.base.replace("http://", program === "nginx" ? "http://" : ""));
      let answer = () => {};
      const asked = new Promise<void>((resolve) => {
        answer = resolve;
      });
      for (const provider of providers) Object.assign(provider, { behavior: "slow", delay: () => asked });
      const headers = { "content-type": "application/json", accept: "text/event-stream" };
      const sent = request(`${url}/data/request`, { method: "POST", headers, localAddress: "127.0.0.2" });
      sent.end(JSON.stringify(body("SPOTPX/ETH-USD", false)));
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      const parts: string[] = [];
      for await (const part of response) {
        parts.push(String(part));
        // The providers answer only once the first event has come through.
        if (parts.join("").includes("event: asked")) answer();
      }
      expect(response.statusCode).toBe(200);
      expect(parts.join("")).toContain("event: answer");
      const ip = isForwarding ? "127.0.0.2" : "127.0.0.1";
      await expect.poll(() => operator.log.join("")).toContain(`"url":"/data/request","ip":"${ip}"`);
    },
  );
});
