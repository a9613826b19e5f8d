import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXCHANGE_ORIGINS } from "@dataset-oracle/devnet/exchange-origins";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { BRIDGE, IMAGE, Machine } from "./machine.js";

/** Services ask providers at public addresses only. Nothing leads out of the namespace, so these are nobody else's. */
const addressOf = (number: number) => `11.0.0.${number}`;
const WORLD = addressOf(2);

/** Where the chain answers, to those who name all of the query: it has characters that shells read in their way. */
export const RPC_URL = "https://rpc.example/?apikey=k1&team=$4";

/** The rest of the world: name servers, certificates, exchanges and a chain, behind Caddy on one machine. */
export class Network {
  private readonly addresses = new Map<string, string>();
  private next = 10;

  private constructor(private readonly world: Machine) {}

  /** Starts it, with a chain of this id, whose accounts anvil funds. */
  static async start(chainId: number): Promise<Network> {
    for (const command of [`link add ${BRIDGE} type bridge`, `link set ${BRIDGE} up`])
      execFileSync("ip", command.split(" "));
    const key = makeAuthority();
    const network = new Network(await Machine.start("world.example", WORLD));
    await network.serve(key, chainId);
    return network;
  }

  private async serve(key: string, chainId: number): Promise<void> {
    const { world } = this;
    await world.write("/etc/authority.key", key);
    await world.write("/etc/hosts.network", "");
    await world.write("/etc/caddy/Caddyfile", worldCaddyfile());
    const weather = "api.weather.example";
    const hosts = [...Object.values(EXCHANGE_ORIGINS).map((origin) => new URL(origin).host), weather];
    for (const host of ["ca.example", "rpc.example", "rpc.one-company.example", "rpc.other-company.example", ...hosts])
      this.addresses.set(host, WORLD);
    await this.writeHosts();
    const anvil = foundryBinary("anvil").slice(process.cwd().length + 1);
    await world.run(`
      systemd-run --quiet --unit=dns dnsmasq --keep-in-foreground --no-resolv --no-hosts --addn-hosts=/etc/hosts.network
      systemd-run --quiet --unit=chain /opt/dataset-oracle/${anvil} --chain-id ${chainId} --block-time 2 --prune-history 256 --silent
      systemd-run --quiet --unit=market node /opt/dataset-oracle/devnet/dist/simulated-market/main.js
      systemctl start caddy`);
  }

  /** Boots a machine with an address of its own. */
  machine(host: string): Promise<Machine> {
    return Machine.start(host, addressOf(this.next++));
  }

  /** Lets a host name lead to a machine. */
  async lead(host: string, { address }: Machine): Promise<void> {
    this.addresses.set(host, address);
    await this.writeHosts();
    await this.world.run("systemctl kill --signal=HUP dns");
  }

  /** Returns a certificate of the private authority, and its key. */
  async certificate(host: string): Promise<{ readonly chain: string; readonly key: string }> {
    const script = `cd /tmp
      openssl req -newkey rsa:2048 -nodes -keyout ${host}.key -subj "/CN=${host}" -out ${host}.csr 2> /dev/null
      openssl x509 -req -in ${host}.csr -days 30 -CA ${AUTHORITY} -CAkey /etc/authority.key -extfile <(echo subjectAltName=DNS:${host}) 2> /dev/null`;
    const chain = await this.world.run(script);
    return { chain, key: await this.world.run(`cat /tmp/${host}.key`) };
  }

  private writeHosts(): Promise<void> {
    const lines = [...this.addresses].map(([host, address]) => `${address} ${host}\n`);
    return this.world.write("/etc/hosts.network", lines.join(""));
  }
}

/** Where each machine has the certificate of the private authority. */
const AUTHORITY = "/usr/local/share/ca-certificates/authority.crt";

/** Makes a private authority that every machine of the image trusts, and which asks the world for names. Returns its key. */
function makeAuthority(): string {
  const [certificate, key] = [join(IMAGE, AUTHORITY), join(IMAGE, "../authority.key")];
  mkdirSync(join(certificate, ".."), { recursive: true });
  const subject = ["-days", "30", "-subj", "/CN=Private authority"];
  const command = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, ...subject];
  execFileSync("openssl", command, { stdio: "pipe" });
  execFileSync("chroot", [IMAGE, "env", "TMPDIR=/tmp", "update-ca-certificates"], { stdio: "pipe" });
  writeFileSync(join(IMAGE, "etc/resolv.conf"), `nameserver ${WORLD}\n`);
  return readFileSync(key, "utf8");
}

/** Exchanges of the simulated market at their own names, the chain, and an authority that gives Caddy certificates. */
function worldCaddyfile(): string {
  const site = (host: string, ...lines: readonly string[]) => `${host} {\n tls internal\n ${lines.join("\n ")}\n}\n`;
  const chain = "reverse_proxy 127.0.0.1:8545";
  // One matcher for each, because a matcher of several takes any of them.
  const guard = [...new URL(RPC_URL).searchParams].flatMap(([name, value]) => [
    `@without-${name} not query ${name}=${value}`,
    `respond @without-${name} 403`,
  ]);
  const market = [...Object.entries(EXCHANGE_ORIGINS), ["weather", "https://api.weather.example"] as const];
  return [
    `{\n skip_install_trust\n pki {\n  ca local {\n   root {\n    cert ${AUTHORITY}\n    key /etc/authority.key\n   }\n  }\n }\n}\n`,
    site("ca.example", "acme_server"),
    site(new URL(RPC_URL).host, ...guard, chain),
    ...["rpc.one-company.example", "rpc.other-company.example"].map((host) => site(host, chain)),
    ...market.map(([name, origin]) =>
      site(new URL(origin).host, `rewrite * /${name}{uri}`, "reverse_proxy 127.0.0.1:8600"),
    ),
  ].join("");
}
