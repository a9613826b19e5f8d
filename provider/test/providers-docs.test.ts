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
  expect(guide).toContain(`"database": "/var/lib/${unit.get("StateDirectory")}/database"`);
});
