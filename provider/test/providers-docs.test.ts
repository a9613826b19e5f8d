import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ProviderConfig } from "../src/config.js";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), "utf8");
const guide = read("docs/Providers.md");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? "";
const { bin } = JSON.parse(read("provider/package.json"));
const { port } = ProviderConfig.properties;
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
  expect(guide).toContain(`"database": "/var/lib/${unit.get("StateDirectory")}/database"`);
  expect(unit.get("ProtectSystem")).toBe("strict");
  // A wrong setting ends the process with 2, and a shutdown takes at most 10 s.
  expect(unit.get("RestartPreventExitStatus")).toBe("2");
  expect(Number(unit.get("TimeoutStopSec"))).toBeGreaterThan(10);
});

it("the container starts the built program on the default port", () => {
  const file = read("provider/Containerfile");
  expect(file).toContain(`ENTRYPOINT ["node", "${main}"]`);
  expect(/^EXPOSE (\d+)$/m.exec(file)?.[1]).toBe(String(port.default));
  expect(file).toContain(`:${port.default}/live`);
  expect(guide).toContain("PROVIDER_PRIVATE_KEY_FILE=/run/secrets/provider-key");
});
