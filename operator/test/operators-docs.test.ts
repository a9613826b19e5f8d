import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { Balances } from "../src/balances.js";
import { loadOperatorConfig, OperatorConfig } from "../src/config.js";
import { Metrics } from "../src/metrics.js";
import { USAGE } from "../src/usage.js";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), "utf8");
const guide = read("docs/Operators.md");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? "";
const { bin } = JSON.parse(read("operator/package.json"));
const main = `operator/${bin.operator.replace("./", "")}`;
const { port, maxConnections } = OperatorConfig.properties;

describe("the systemd unit", () => {
  const lines = block("ini")
    .split("\n")
    .filter((line) => line.includes("=") && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const values = (name: string) => lines.flatMap(([key, value]) => (key === name ? [value] : []));

  test("starts the built program, after checking the same configuration", () => {
    const [start] = values("ExecStart");
    expect(start).toBe(`/usr/bin/node /opt/dataset-oracle/${main} --config /etc/dataset-operator/operator.json`);
    expect(values("ExecStartPre")).toEqual([`${start} --check-config`]);
  });

  test("passes a keystore and its password as files, and no secret as a variable", () => {
    const credentials = values("LoadCredential").map((value) => value.split(":")[0]);
    const variables = Object.fromEntries((values("Environment")[0] ?? "").split(" ").map((entry) => entry.split("=")));
    expect(variables).toEqual({
      NODE_ENV: "production",
      OPERATOR_KEYSTORE: `%d/${credentials[0]}`,
      OPERATOR_KEYSTORE_PASSWORD_FILE: `%d/${credentials[1]}`,
    });
    for (const name of ["OPERATOR_KEYSTORE", "OPERATOR_KEYSTORE_PASSWORD_FILE"]) expect(USAGE).toContain(name);
  });

  test("allows longer than the 10 s that a shutdown takes, and does not restart on invalid configuration", () => {
    expect(values("RestartPreventExitStatus")).toEqual(["2"]);
    expect(Number(values("TimeoutStopSec")[0])).toBeGreaterThan(10);
  });

  test("allows enough open files for its connections, and is hardened at least as much as the provider's", () => {
    expect(Number(values("LimitNOFILE")[0])).toBeGreaterThan(4 * maxConnections.default);
    const ofProvider = /```ini\n([\s\S]*?)```/.exec(read("docs/Providers.md"))?.[1] ?? "";
    const hardening = ofProvider.slice(ofProvider.indexOf("DynamicUser"), ofProvider.indexOf("[Install]")).trim();
    expect(hardening.split("\n").length).toBeGreaterThan(20);
    for (const line of hardening.split("\n")) expect(block("ini")).toContain(`${line}\n`);
    expect(values("StateDirectory")).toEqual([]);
  });
});

describe("the container", () => {
  const file = read("operator/Containerfile");

  test("starts the built program, and has every script that it runs", () => {
    expect(file).toContain(`ENTRYPOINT ["node", "${main}"]`);
    const scripts = [...file.matchAll(/npm run (\w+)/g)].map(([, name]) => name ?? "");
    expect(Object.keys(JSON.parse(read("package.json")).scripts)).toEqual(expect.arrayContaining(scripts));
  });

  test("exposes the default port, has a health check, and runs as an unprivileged user without volumes", () => {
    expect(/^EXPOSE (\d+)$/m.exec(file)?.[1]).toBe(String(port.default));
    expect(file).toContain(`:${port.default}/live`);
    expect(file).toMatch(/^USER node$/m);
    expect(file).not.toMatch(/^VOLUME/m);
    for (const option of ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges"]) {
      expect(guide).toContain(option);
    }
    for (const secret of [
      "OPERATOR_KEYSTORE=/run/secrets/operator-keystore",
      "OPERATOR_KEYSTORE_PASSWORD_FILE=/run/secrets/operator-password",
    ]) {
      expect(guide).toContain(secret);
    }
  });
});

test("the metrics that it names exist", () => {
  const registry = new Registry();
  new Metrics(registry).watch([], new Balances([], Date.now), Date.now);
  const measured = registry.getMetricsAsArray().map(({ name }) => name);
  const named = [...guide.matchAll(/`(operator_\w+)`/g)].map(([, name]) => name ?? "");
  expect(named.length).toBeGreaterThanOrEqual(2);
  expect(measured).toEqual(expect.arrayContaining(named));
});

test.each([...new Set([...guide.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, name]) => name ?? ""))])(
  "%s, which it names, is a setting",
  (name) => {
    expect(JSON.stringify(OperatorConfig)).toContain(`"${name}":{`);
  },
);

test("the configuration that it shows is valid", () => {
  const folder = mkdtempSync(join(tmpdir(), "operators-docs-"));
  const [{ deployment, feeds }] = JSON.parse(block("json")).networks;
  const financial = { address: feeds[0].dataset, kind: "median", keyForm: "SPOT_PRICE", keys: feeds[0].keys };
  mkdirSync(join(folder, "deployments"));
  writeFileSync(join(folder, deployment), JSON.stringify({ chainId: 11155111, datasets: { financial } }));
  writeFileSync(join(folder, "operator.json"), block("json"));
  const { networks } = loadOperatorConfig(join(folder, "operator.json"), {
    RPC_URL: "https://rpc.one-company.example",
  });
  expect(networks.map((network) => network.deployment.chainId)).toEqual([11155111]);
  rmSync(folder, { recursive: true });
});
