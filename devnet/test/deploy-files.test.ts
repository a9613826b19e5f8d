import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ListedMetric, metricsInTable } from "@dataset-oracle/devnet/test-support/metrics-table";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { PROMETHEUS, SYSTEMD } from "./installed-programs.js";

const SERVICES = ["operator", "provider"] as const;
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: object;
  readonly annotations: object;
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
  readonly volumes: object;
}

interface ComposeService {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly volumes: readonly string[];
  readonly environment?: object;
  readonly command?: string | readonly string[];
  readonly entrypoint?: readonly string[];
  readonly logging?: object;
  readonly configs?: readonly { readonly source: string }[];
}

/** PromQL's words, and what Prometheus and prom-client add to what a service exports. */
const WORDS =
  "ALERTS alertname alertstate and or unless on by sum count max without ignoring group_left group_right bool offset rate increase deriv floor " +
  "avg_over_time min_over_time last_over_time histogram_quantile time up job instance le";

/** Requires that a service exports everything that an expression reads, selects or groups by. */
function expectExported(expr: string, exported: ReadonlyMap<string, ListedMetric>): void {
  const series = new Map(
    [...exported].flatMap(([name, metric]) =>
      (metric.type === "histogram" ? ["_bucket", "_count", "_sum"] : [""]).map((end) => [name + end, metric] as const),
    ),
  );
  const names = expr.replace(/"[^"]*"|\[[^\]]*\]|offset \w+/g, " ").match(/\b[a-z_]\w*/g) ?? [];
  const labels = names.flatMap((name) => series.get(name)?.labels ?? []);
  const known = [...WORDS.split(" "), ...series.keys(), ...labels];
  expect(names.filter((name) => !known.includes(name) && !name.startsWith("process_"))).toEqual([]);
  expect(names).not.toEqual([]);
}

describe.each(SERVICES)("what deploys the %s", (service) => {
  const folder = `${service}/deploy`;
  const at = (file: string) => join(ROOT, folder, file);
  const exported = metricsInTable(read(`${service}/README.md`));
  const rules = (parse(read(`${folder}/alerts.yml`)) as { groups: { rules: Rule[] }[] }).groups.flatMap(
    ({ rules }) => rules,
  );
  const { panels } = JSON.parse(read(`${folder}/dashboard.json`)) as { panels: Panel[] };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  test("raises alerts that name the fault, the first thing to do, and metrics that are exported", () => {
    expect(rules.length).toBeGreaterThanOrEqual(7);
    for (const { alert, expr, labels, annotations } of rules) {
      expect([alert, labels]).toEqual([alert, { severity: expect.stringMatching(/^(?:page|ticket)$/) }]);
      expect([alert, annotations]).toEqual([alert, { summary: expect.any(String), action: expect.any(String) }]);
      // An installation has no command of that name in its path.
      expect(Object.values(annotations).join(), alert).not.toMatch(/`(?:operator|provider) /);
      expectExported(expr, exported);
    }
  });

  test("shows panels whose queries read metrics that are exported, and each metric somewhere", () => {
    for (const { type, title, targets } of panels) if (type !== "row") expect(targets, title).not.toEqual([]);
    for (const query of queries) expectExported(query, exported);
    const used = [...queries, ...rules.map(({ expr }) => expr)].join(" ");
    const unused = [...exported.keys()].filter((name) => !used.includes(name));
    const left = { operator: [], provider: ["provider_source_back_offs_total", "provider_remembered_decisions"] };
    expect(unused).toEqual(left[service]);
  });

  test("tests each alert by Prometheus, when it fires and when it does not", () => {
    const { tests } = parse(read(`${folder}/alerts.test.yml`)) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: object[] }[] }[];
    };
    const all = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    for (const fires of [true, false]) {
      const tested = all.filter(({ exp_alerts = [] }) => exp_alerts.length > 0 === fires);
      expect(new Set(tested.map(({ alertname }) => alertname))).toEqual(new Set(rules.map(({ alert }) => alert)));
    }
  });

  test.runIf(PROMETHEUS.isThere)(
    "has rules, queries and a configuration that Prometheus takes, and rules that it finds right",
    () => {
      const promtool = (...args: string[]) => execFileSync("promtool", args, { stdio: "pipe" }).toString();
      expect(promtool("check", "config", at("prometheus.yml"))).toContain(`${rules.length} rules found`);
      expect(promtool("test", "rules", at("alerts.test.yml"))).toContain("SUCCESS");
      // promtool reads expressions only as rules.
      const file = join(mkdtempSync(join(tmpdir(), "queries-")), "rules.yml");
      const recorded = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
      writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
      expect(promtool("check", "rules", file)).toContain(`${queries.length} rules found`);
    },
  );

  test("scrapes the address at which the metrics are by default", () => {
    const { scrape_configs, rule_files } = parse(read(`${folder}/prometheus.yml`));
    const [, port] = /default `http:\/\/127\.0\.0\.1:(\d+)\/metrics`/.exec(read(`${service}/README.md`)) ?? [];
    const static_configs = [{ targets: [`127.0.0.1:${port}`] }];
    expect(scrape_configs).toEqual([{ job_name: `dataset-${service}`, static_configs }]);
    for (const file of rule_files) expect(existsSync(at(file))).toBe(true);
  });

  describe("by Docker Compose", () => {
    const { services, configs, volumes } = parse(read(`${folder}/compose.yaml`)) as Compose;
    const own = services[service] as ComposeService;
    const containerfile = `${service}/Containerfile`;
    const image = read(containerfile);

    test("builds the image of the repository, and runs it without rights", () => {
      const { context = "", dockerfile } = own.build ?? {};
      expect([join(at("."), context, "."), dockerfile]).toEqual([join(ROOT, "."), containerfile]);
      expect(own).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    });

    test("mounts what is there, and what the image expects", () => {
      const isNamed = (source: string) => /^\w+$/.test(source);
      for (const mount of Object.values(services).flatMap((one) => one.volumes)) {
        const [source = "", target = "", mode] = mount.split(":");
        expect(target).toMatch(/^\//);
        if (isNamed(source)) expect(volumes).toHaveProperty(source);
        else if (source.startsWith(".")) expect([existsSync(at(source)), mode]).toEqual([true, "ro"]);
        else expect(source).toMatch(new RegExp(`^/(?:etc|var/lib)/dataset-${service}$`));
      }
      expect(own.volumes).toContain(`/etc/dataset-${service}:/etc/dataset-${service}:ro`);
      expect(image).toMatch(new RegExp(`^CMD .*"/etc/dataset-${service}/${service}\\.json"\\]$`, "m"));
      const written = /^VOLUME (\S+)$/m.exec(image)?.[1];
      const mounted = own.volumes.filter((mount) => !mount.endsWith(":ro"));
      expect(mounted).toEqual(written === undefined ? [] : [`${written}:${written}`]);
    });

    test("limits the log of each container, because a full disk stops the service", () => {
      for (const one of Object.values(services)) {
        expect(one.logging).toEqual({ driver: "json-file", options: { "max-size": "10m", "max-file": "5" } });
      }
    });

    describe("starts the image's program", () => {
      /** Runs the container's command line, with a script of a shell in place of Node. */
      function start(program: string) {
        const bin = mkdtempSync(join(tmpdir(), "bin-"));
        writeFileSync(join(bin, "node"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
        const [shell = "", ...args] = own.entrypoint?.map((part) => part.replaceAll("$$", "$")) ?? [];
        const env = { PATH: `${bin}:${process.env.PATH}` };
        const child = spawn(shell, [...args, ...String(own.command).split(" ")], {
          env,
          stdio: ["ignore", "pipe", "inherit"],
        });
        onTestFinished(() => void child.kill("SIGKILL"));
        return { child, exited: once(child, "exit"), printed: once(child.stdout, "data").then(String) };
      }

      test("with the arguments that the image gives it", async () => {
        const [, entry, args] = /ENTRYPOINT (.*)\nCMD (.*)/.exec(image) ?? [];
        const { printed, exited } = start('echo "node $*"');
        expect((await printed).trim()).toBe([...JSON.parse(entry ?? ""), ...JSON.parse(args ?? "")].join(" "));
        expect((await exited)[0]).toBe(0);
      });

      test("ends with its exit code, which starts it again", async () => {
        expect((await start("exit 1").exited)[0]).toBe(1);
      });

      test.each({ operator: [2], provider: [2, 3] }[service])(
        "waits after exit code %d until it is told to stop",
        async (code) => {
          const { child, exited, printed } = start(`echo ended; exit ${code}`);
          await printed;
          // Nothing tells when the shell has begun to wait; an end would come sooner than this.
          await sleep(300);
          expect(child.exitCode).toBeNull();
          child.kill("SIGTERM");
          await exited;
        },
      );

      test("and gives it the time to end by itself", async () => {
        const { child, exited, printed } = start(
          "trap 'sleep 0.3; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
        );
        await printed;
        child.kill("SIGTERM");
        expect((await exited)[0]).toBe(0);
      });
    });

    test("gives Grafana a Prometheus and the dashboard, and each its place", () => {
      const { prometheus, grafana, caddy } = services;
      const option = (name: string) => new RegExp(`--${name}=([^,\\s]+)`).exec(String(prometheus?.command))?.[1];
      const config = option("config\\.file") ?? "";
      expect(prometheus?.volumes).toContain(`./prometheus.yml:${config}:ro`);
      expect(prometheus?.volumes).toContain(`./alerts.yml:${dirname(config)}/alerts.yml:ro`);
      const content = (index: number) => parse(configs[grafana?.configs?.[index]?.source ?? ""]?.content ?? "");
      const url = `http://${option("web\\.listen-address")}`;
      expect(content(0).datasources).toMatchObject([{ uid: "prometheus", url, isDefault: true }]);
      expect(grafana?.volumes[0]).toBe(`./dashboard.json:${content(1).providers[0].options.path}/${service}.json:ro`);
      expect(caddy?.command).toContain(`--to 127.0.0.1:${/^EXPOSE (\d+)$/m.exec(image)?.[1]}`);
    });
  });

  describe("by systemd", () => {
    const unit = `dataset-${service}.service`;
    const settings = read(`${folder}/${unit}`)
      .split("\n")
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
    const values = (name: string) => settings.flatMap(([key, value]) => (key === name ? [value] : []));

    test("starts the built program, and nothing before it, whose exit code would prevent no restart", () => {
      const { bin } = JSON.parse(read(`${service}/package.json`)) as { bin: Record<string, string> };
      const main = `/usr/bin/node /opt/dataset-oracle/${service}/${bin[service]?.replace("./", "")}`;
      const config = `--config /etc/dataset-${service}/${service}.json`;
      const command = { operator: `${main} ${config}`, provider: `${main} serve ${config}` }[service];
      expect([...values("ExecStart"), ...values("ExecStartPre")]).toEqual([command]);
    });

    test("passes keys as credentials, and no secret as a variable, as the containers do", () => {
      const [key, password] = values("LoadCredential").map(
        (value) => `/run/credentials/${unit}/${value.split(":")[0]}`,
      );
      const keystore = `${service.toUpperCase()}_KEYSTORE`;
      const variables = [`${keystore}=${key}`, `${keystore}_PASSWORD_FILE=${password}`];
      expect(values("Environment")).toEqual([["NODE_ENV=production", ...variables].join(" ")]);
      const { services } = parse(read(`${folder}/compose.yaml`)) as Compose;
      const names = variables.map((variable) => variable.split("=")[0]);
      expect(Object.keys(services[service]?.environment ?? {})).toEqual(names);
    });

    test("starts it again however often it ends, unless a restart cannot help", () => {
      const policy = ["Restart", "RestartPreventExitStatus", "StartLimitIntervalSec"].flatMap(values);
      expect(policy).toEqual(["on-failure", { operator: "2", provider: "2 3" }[service], "0"]);
    });

    test.runIf(SYSTEMD.isThere)("is a unit that systemd takes, and that it exposes little", () => {
      const file = join(mkdtempSync(join(tmpdir(), "unit-")), unit);
      writeFileSync(file, read(`${folder}/${unit}`).replaceAll("/usr/bin/node", process.execPath));
      const analyze = (...args: string[]) => execFileSync("systemd-analyze", args, { stdio: "pipe" }).toString();
      expect(analyze("verify", "--man=no", file)).toBe("");
      // In tenths, from 0 to 100; without any hardening it is 96.
      expect(analyze("security", "--offline=yes", "--threshold=20", "--no-pager", file)).toContain("Overall exposure");
    });
  });
});
