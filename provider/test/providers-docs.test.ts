import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), "utf8");
const guide = read("docs/Providers.md");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? "";
const { bin } = JSON.parse(read("provider/package.json"));
const main = `provider/${bin.provider.replace("./", "")}`;

it("the systemd unit starts the built program, and checks the same configuration first", () => {
  const unit = new Map(
    block("ini")
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const start = unit.get("ExecStart") ?? "";
  expect(start).toBe(`/usr/bin/node /opt/dataset-oracle/${main} --config /etc/dataset-provider/provider.json`);
  expect(unit.get("ExecStartPre")).toBe(`${start} --check-config`);
  const [credential] = (unit.get("LoadCredential") ?? "").split(":");
  expect(unit.get("Environment")).toContain(`PROVIDER_PRIVATE_KEY_FILE=%d/${credential}`);
  expect(read("provider/src/setup.ts")).toContain('loadAccount(env, "PROVIDER")');
  expect(guide).toContain(`"database": "/var/lib/${unit.get("StateDirectory")}/database"`);
  expect(unit.get("ProtectSystem")).toBe("strict");
  // The exit code for a wrong setting, and the time for a shutdown, are those of the process.
  const process = read("service/src/process/lifecycle.ts");
  expect(process).toContain(`process.exit(${unit.get("RestartPreventExitStatus")})`);
  const shutdownMs = Number(/SHUTDOWN_MS = ([\d_]+)/.exec(process)?.[1]?.replace("_", ""));
  expect(Number(unit.get("TimeoutStopSec")) * 1_000).toBeGreaterThan(shutdownMs);
});

it("the container starts the built program on the default port", () => {
  const file = read("provider/Containerfile");
  expect(file).toContain(`ENTRYPOINT ["node", "${main}"]`);
  expect(read("provider/src/config.ts")).toContain(`default: ${/EXPOSE (\d+)/.exec(file)?.[1]}`);
  expect(read("provider/src/routes.ts")).toContain('app.get("/live"');
  expect(file).toContain("/live");
  expect(guide).toContain("PROVIDER_PRIVATE_KEY_FILE=/run/secrets/provider-key");
});

it("what is worth an alarm is measured", () => {
  const measured = ["provider/src/metrics.ts", "service/src/http-server/metrics.ts"].map(read).join("\n");
  const names = [...guide.matchAll(/\b((?:provider|http)_\w+?)(?:_bucket|_count)?\b(?=[{[ )])/g)].map(
    ([, name]) => name,
  );
  expect(names.length).toBeGreaterThanOrEqual(6);
  for (const name of names) expect(measured).toContain(`name: "${name}"`);
});
