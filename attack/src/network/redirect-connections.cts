// Loaded into the providers (NODE_OPTIONS=--require), so that nothing leaves this machine: names resolve to a public
// address, which leads to the simulated internet, or to the addresses that the name contains. A connection to any other
// address goes to a trap on loopback, which counts it. The providers' own code is not changed, including its checks of
// names, addresses and certificates.
import dns = require("node:dns");
import net = require("node:net");
import tls = require("node:tls");

const PUBLIC = "93.184.215.14";
const internetPort = Number(process.env.ATTACK_INTERNET_PORT);
const trapPort = Number(process.env.ATTACK_TRAP_PORT);
const seen = new Map<string, number>();

/** `v4-10-0-0-1--93-184-215-14.attack.example` has two addresses; `rebind-` changes them after the first lookup. */
function addressesOf(name: string, family: "v4" | "v6") {
  const found = /^(rebind-)?(v[46])-([0-9a-f-]+)\.attack\.example$/.exec(name);
  if (found === null) return family === "v4" ? [PUBLIC] : [];
  const [, rebinds, kind, text = ""] = found;
  const lookups = (seen.get(`${family} ${name}`) ?? 0) + 1;
  seen.set(`${family} ${name}`, lookups);
  if (rebinds !== undefined && lookups === 1) return family === "v4" ? [PUBLIC] : [];
  if (kind !== family) return [];
  const separator = family === "v4" ? "." : ":";
  return text.split("--").map((address) => address.replaceAll("-", separator));
}

const resolve = (family: "v4" | "v6") => async (name: string) => {
  const addresses = addressesOf(name, family);
  if (addresses.length === 0) throw Object.assign(new Error(`no such name: ${name}`), { code: "ENOTFOUND" });
  return addresses;
};
Object.assign(dns.promises.Resolver.prototype, { resolve4: resolve("v4"), resolve6: resolve("v6") });

const connectByTls = tls.connect;
Object.assign(tls, {
  connect: (options: tls.ConnectionOptions, listener?: () => void) => {
    const isInternet = options?.host === PUBLIC && Number(options.port) === 443;
    return connectByTls({ ...options, host: "127.0.0.1", port: isInternet ? internetPort : trapPort }, listener);
  },
});

const connect = net.Socket.prototype.connect;
Object.assign(net.Socket.prototype, {
  connect(this: net.Socket, ...args: unknown[]) {
    const [options] = Array.isArray(args[0]) ? args[0] : args;
    if (typeof options === "object" && options.host !== undefined && !/^(127\.|localhost$)/.test(options.host)) {
      options.host = "127.0.0.1";
      options.port = trapPort;
    }
    return Reflect.apply(connect, this, args);
  },
});
