import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";

/** A machine of the network: a network namespace with one address. */
export interface Host {
  readonly namespace: string;
  readonly address: string;
}

/**
 * Names that begin with this were made here: the process's number in base 36 follows, and a namespace has its host's
 * number after that.
 */
const NAME = /^part([0-9a-z]+)x\d+(?:-\d+)?$/;
/** How many networks this process has started. */
let started = 0;
/** No network card has this hardware address, so that what is sent to it is lost. */
const NOBODY = "02:00:00:00:00:01";

/** Returns why this machine cannot run these tests; null if it can. */
export function reasonWithoutNamespaces(): string | null {
  if (process.platform !== "linux") return "network namespaces exist on Linux only";
  if (process.getuid?.() !== 0) return "network namespaces need root";
  try {
    new NetworkNamespaces(1).close();
    return null;
  } catch (error) {
    return `network namespaces are not allowed here: ${(error as Error).message.split("\n").at(1)}`;
  }
}

/**
 * Machines on one switch: network namespaces, joined by a bridge on which this process has an address too. The
 * addresses are of the range that is reserved for benchmarks (RFC 2544), so that nothing else has them.
 */
export class NetworkNamespaces {
  readonly hosts: readonly Host[];
  /** This process's address on the bridge. */
  readonly own: string;
  readonly subnet: string;
  /** No two networks of a process share a name: the kernel frees those of a removed network only after a while. */
  readonly #bridge = `part${process.pid.toString(36)}x${started++}`;
  #cuts: readonly (readonly [number, number])[] = [];

  /** @param count The number of hosts. */
  constructor(count: number) {
    removeLeftovers();
    const prefix = freePrefix();
    this.subnet = `${prefix}.0/24`;
    this.own = `${prefix}.254`;
    this.hosts = Array.from({ length: count }, (_, i) => ({
      namespace: `${this.#bridge}-${i}`,
      address: `${prefix}.${i + 1}`,
    }));
    try {
      ip("link", "add", this.#bridge, "type", "bridge");
      ip("addr", "add", `${this.own}/24`, "dev", this.#bridge);
      ip("link", "set", this.#bridge, "up");
      for (const host of this.hosts) this.#add(host);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Returns a command that runs another in the namespace of a host. */
  commandIn({ namespace }: Host, command: readonly string[]): readonly string[] {
    return ["ip", "netns", "exec", namespace, ...command];
  }

  /**
   * Cuts pairs of hosts off from each other, and joins all others. The first of a pair is told at once that there is no
   * way (a blackhole route); what the second sends is lost, so that it waits.
   */
  cut(pairs: readonly (readonly [number, number])[]): void {
    for (const [a, b] of this.#cuts) {
      ip("-n", this.#namespace(a), "route", "del", "blackhole", this.#address(b));
      ip("-n", this.#namespace(b), "neigh", "del", this.#address(a), "dev", "eth0");
    }
    this.#cuts = pairs;
    for (const [a, b] of pairs) {
      ip("-n", this.#namespace(a), "route", "add", "blackhole", this.#address(b));
      const nobody = ["lladdr", NOBODY, "dev", "eth0", "nud", "permanent"];
      ip("-n", this.#namespace(b), "neigh", "replace", this.#address(a), ...nobody);
    }
  }

  /** Splits hosts into groups that do not reach each other. A host that is in none reaches all. */
  split(...groups: readonly (readonly number[])[]): void {
    const pairs = groups.flatMap((group, i) =>
      groups.slice(i + 1).flatMap((other) => group.flatMap((a) => other.map((b) => [a, b] as const))),
    );
    this.cut(pairs.map(([a, b]) => ((a + b) % 2 === 0 ? [a, b] : [b, a])));
  }

  heal(): void {
    this.cut([]);
  }

  /** Ends everything that runs in the namespaces, and removes them and the bridge. */
  close(): void {
    remove(this.#bridge);
  }

  #add({ namespace, address }: Host): void {
    ip("netns", "add", namespace);
    ip("link", "add", namespace, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    ip("link", "set", namespace, "master", this.#bridge, "up");
    ip("-n", namespace, "addr", "add", `${address}/24`, "dev", "eth0");
    for (const link of ["eth0", "lo"]) ip("-n", namespace, "link", "set", link, "up");
  }

  #namespace(host: number): string {
    return this.hosts[host]?.namespace ?? "";
  }

  #address(host: number): string {
    return this.hosts[host]?.address ?? "";
  }
}

/** Removes what killed processes left behind. */
function removeLeftovers(): void {
  const left = [...namespaces(), ...bridges()].filter((name) => {
    const pid = Number.parseInt(NAME.exec(name)?.[1] ?? "", 36);
    return Number.isSafeInteger(pid) && !isRunning(pid);
  });
  for (const bridge of new Set(left.map((name) => name.replace(/-\d+$/, "")))) remove(bridge);
}

function remove(bridge: string): void {
  for (const namespace of namespaces().filter((name) => name.startsWith(`${bridge}-`))) {
    for (const pid of lines(ip("netns", "pids", namespace))) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
    ip("netns", "del", namespace);
  }
  if (bridges().includes(bridge)) ip("link", "del", bridge);
}

/** Finds a /24 in which this machine has no address. */
function freePrefix(): string {
  const used = ip("-4", "-o", "addr");
  for (;;) {
    const prefix = `198.${18 + randomInt(2)}.${randomInt(256)}`;
    if (!used.includes(` ${prefix}.`)) return prefix;
  }
}

const namespaces = () => lines(ip("netns", "list")).map((line) => line.split(" ")[0] ?? "");
const bridges = () => lines(ip("-o", "link", "show", "type", "bridge")).map((line) => line.split(": ")[1] ?? "");
const lines = (text: string) => text.split("\n").filter(Boolean);

function ip(...args: readonly string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
