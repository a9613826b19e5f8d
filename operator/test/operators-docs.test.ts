import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), "utf8");
const guide = read("docs/Operators.md");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? "";
const { bin, dependencies } = JSON.parse(read("operator/package.json"));
const main = `operator/${bin.operator.replace("./", "")}`;

describe("the systemd unit", () => {
  const lines = block("ini")
    .split("\n")
    .filter((line) => line.includes("=") && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const values = (name: string) => lines.flatMap(([key, value]) => (key === name ? [value] : []));

  test("starts the built program, and checks the same configuration first", () => {
    const [start] = values("ExecStart");
    expect(start).toBe(`/usr/bin/node /opt/dataset-oracle/${main} --config /etc/dataset-operator/operator.json`);
    expect(values("ExecStartPre")).toEqual([`${start} --check-config`]);
  });

  test("hands it a keystore and its password as files, and no secret as a variable", () => {
    const credentials = values("LoadCredential").map((value) => value.split(":")[0]);
    const variables = Object.fromEntries((values("Environment")[0] ?? "").split(" ").map((entry) => entry.split("=")));
    expect(variables).toEqual({
      NODE_ENV: "production",
      OPERATOR_KEYSTORE: `%d/${credentials[0]}`,
      OPERATOR_KEYSTORE_PASSWORD_FILE: `%d/${credentials[1]}`,
    });
    for (const name of ["OPERATOR_KEYSTORE", "OPERATOR_KEYSTORE_PASSWORD_FILE"]) {
      expect(read("operator/src/usage.ts")).toContain(name);
    }
  });

  test("gives it as long to end as it takes, and does not start again what must be mended", () => {
    const process = read("service/src/process.ts");
    expect(process).toContain(`process.exit(${values("RestartPreventExitStatus")[0]})`);
    const shutdownMs = Number(/SHUTDOWN_MS = ([\d_]+)/.exec(process)?.[1]?.replace("_", ""));
    expect(Number(values("TimeoutStopSec")[0]) * 1_000).toBeGreaterThan(shutdownMs);
  });

  test("has room for the connections that it may have, and is at least as hard as the provider's", () => {
    const connections = Number(
      /default: ([\d_]+),\n {2}description: "Connections/
        .exec(read("service/src/connections.ts"))?.[1]
        ?.replace("_", ""),
    );
    expect(Number(values("LimitNOFILE")[0])).toBeGreaterThan(4 * connections);
    const ofProvider = /```ini\n([\s\S]*?)```/.exec(read("docs/Providers.md"))?.[1] ?? "";
    const hardening = ofProvider.slice(ofProvider.indexOf("DynamicUser"), ofProvider.indexOf("[Install]")).trim();
    expect(hardening.split("\n").length).toBeGreaterThan(20);
    for (const line of hardening.split("\n")) expect(block("ini")).toContain(`${line}\n`);
    expect(values("StateDirectory")).toEqual([]);
  });
});

describe("the container", () => {
  const file = block("dockerfile");

  test("has the rooms that the operator imports, its page and its guide, and starts it", () => {
    const rooms = Object.keys(dependencies).flatMap((name) => /^@dataset-oracle\/(\w+)$/.exec(name)?.[1] ?? []);
    const copied = [...file.matchAll(/^COPY --from=build \/app\/([\w/]+) \1$/gm)].map(([, folder]) => folder);
    expect(copied.toSorted()).toEqual(["docs/dist", "node_modules", "operator", ...rooms].toSorted());
    for (const room of rooms) expect(existsSync(at(`${room}/package.json`))).toBe(true);
    expect(read("operator/src/http/guide.ts")).toContain('"docs", "dist"');
    expect(file).toContain(`ENTRYPOINT ["node", "${main}"]`);
    const scripts = [...file.matchAll(/npm run (\w+)/g)].map(([, name]) => name ?? "");
    expect(Object.keys(JSON.parse(read("package.json")).scripts)).toEqual(expect.arrayContaining(scripts));
  });

  test("listens where it says, is asked whether it lives, and runs as nobody of weight", () => {
    expect(read("operator/src/config.ts")).toContain(`default: ${/EXPOSE (\d+)/.exec(file)?.[1]}`);
    expect(read("operator/src/http/health.ts")).toContain('app.get("/live"');
    expect(file).toContain("8080/live");
    expect(file).toMatch(/^USER node$/m);
    expect(file).not.toMatch(/^VOLUME/m);
    for (const option of ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges"]) {
      expect(block("sh")).toContain(option);
    }
    for (const secret of [
      "OPERATOR_KEYSTORE=/run/secrets/operator-keystore",
      "OPERATOR_KEYSTORE_PASSWORD_FILE=/run/secrets/operator-password",
    ]) {
      expect(block("sh")).toContain(secret);
    }
  });
});

test("the figures that it names are measured", () => {
  const measured = read("operator/src/metrics.ts");
  const names = new Set([...guide.matchAll(/`(operator_\w+)`/g)].map(([, name]) => name ?? ""));
  expect(names.size).toBeGreaterThanOrEqual(2);
  for (const name of names) expect(measured).toContain(`"${name}"`);
});
