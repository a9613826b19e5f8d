import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Where machines are connected, in the rehearsal's network namespace. */
export const BRIDGE = "br0";

/** Whom machines trust: the authorities of Debian, and that of the rehearsal. */
export const AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";

/** The folder with the files that every machine starts from. */
export const IMAGE = join(process.env.REHEARSAL_FOLDER ?? "", "image");
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Whose log a failure shows. */
const UNITS = ["dataset-*", "caddy", "nginx"].flatMap((unit) => ["--unit", unit]);
/** Longer than anything that a block does, with forge's compiler. */
const COMMAND_MS = 240_000;

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Lines that a person types at a terminal, where programs ask. */
  readonly typed?: readonly string[];
}

/** A machine of systemd-nspawn: Debian with its own systemd, network and files, which end with it. */
export class Machine {
  private constructor(
    readonly host: string,
    readonly address: string,
    private readonly nspawn: ChildProcess,
    private readonly leader: number,
  ) {}

  /** Boots a machine from the image. */
  static async start(host: string, address: string): Promise<Machine> {
    const name = host.split(".")[0] as string;
    // nspawn makes the machine's cgroups below its own, which must be another one for each.
    const cgroups = ["", "systemd", "unified"]
      .map((hierarchy) => join("/sys/fs/cgroup", hierarchy))
      .filter((hierarchy) => existsSync(join(hierarchy, "cgroup.procs")))
      .map((hierarchy) => join(hierarchy, "dataset-oracle-rehearsal", name));
    for (const cgroup of cgroups) mkdirSync(cgroup, { recursive: true });
    const enter = cgroups.map((cgroup) => `echo $$ > ${cgroup}/cgroup.procs`).join("; ");
    const options = `--directory=${IMAGE} --volatile=overlay --machine=${name} --hostname=${host} --network-bridge=${BRIDGE} --boot`;
    const flags = "--quiet --resolv-conf=off --timezone=off --link-journal=no --register=no --keep-unit";
    const script = `${enter}; exec systemd-nspawn ${options} ${flags}`;
    const nspawn = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "pipe"] });
    let console = "";
    for (const stream of [nspawn.stdout, nspawn.stderr]) stream.on("data", (text) => (console += text));
    for (let tries = 0; tries < 600; tries++) {
      const [leader = ""] = childrenOf(nspawn.pid as number);
      const machine = new Machine(host, address, nspawn, Number(leader));
      if (leader && machine.isBooted()) {
        machine.connect();
        return machine;
      }
      if (nspawn.exitCode !== null) break;
      await sleep(100);
    }
    nspawn.kill("SIGKILL");
    throw new Error(`The machine ${host} did not boot:\n${console}`);
  }

  private isBooted(): boolean {
    const { stdout } = spawnSync("nsenter", [...this.enter(), "systemctl", "is-system-running"], { encoding: "utf8" });
    return /^(?:running|degraded)$/m.test(stdout);
  }

  private connect(): void {
    const ip = (command: string) =>
      execFileSync("nsenter", ["--target", String(this.leader), "--net", "ip", ...command.split(" ")]);
    ip(`address add ${this.address}/24 dev host0`);
    ip("link set host0 up");
    execFileSync("ip", ["link", "set", `vb-${this.host.split(".")[0]}`, "up"]);
  }

  private enter(): string[] {
    const all = "--mount --uts --ipc --net --pid --root --wdns=/".split(" ");
    return ["--target", String(this.leader), ...all, "env", "-i", `PATH=${PATH}`, "HOME=/root", "TERM=dumb"];
  }

  /** Runs commands as root in the repository's folder. Returns what they print; throws if one fails. */
  async run(script: string, { env = {}, input, typed }: RunOptions = {}): Promise<string> {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const bash = ["bash", "--norc", "-euo", "pipefail", "-c", `cd /opt/dataset-oracle\n${script}`];
    // Programs ask on a terminal.
    const terminal = ["script", "--quiet", "--return", "--command", 'bash -euo pipefail -c "$SCRIPT"', "/dev/null"];
    if (typed) variables.push(`SCRIPT=cd /opt/dataset-oracle\n${script}`);
    const child = spawn("nsenter", [...this.enter(), ...variables, ...(typed ? terminal : bash)]);
    let stdout = "";
    let output = "";
    child.stdout.on("data", (text) => (stdout += text));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    child.stdin.end(typed?.map((line) => `${line}\n`).join("") ?? input);
    const deadline = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
    const [code] = await once(child, "close");
    clearTimeout(deadline);
    if (code !== 0) throw new Error(`On ${this.host}, this ended with ${code}:\n${script}\n${output}\n${this.log()}`);
    return stdout;
  }

  /** Returns the end of what the services have logged. */
  log(): string {
    const command = ["journalctl", "--no-pager", "--lines=30", "--output=cat", ...UNITS];
    return `The journal of ${this.host}:\n${execFileSync("nsenter", [...this.enter(), ...command])}`;
  }

  /** Writes a file, with its folders. */
  async write(path: string, content: string | object, mode = "644"): Promise<void> {
    const input = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
    await this.run(`mkdir --parents "$(dirname "${path}")"; cat > "${path}"; chmod ${mode} "${path}"`, { input });
  }

  /** Ends the machine at once, as a loss of power does: with all of its files. */
  async lose(): Promise<void> {
    process.kill(this.leader, "SIGKILL");
    if (this.nspawn.exitCode === null) await once(this.nspawn, "exit");
  }
}

function childrenOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  } catch {
    return [];
  }
}
