// Loaded into the providers (NODE_OPTIONS=--require), so that nothing leaves this machine: names resolve to a public
// address, which leads to the simulated internet, or to the addresses that the name contains. A connection to any other
// address goes to a trap on loopback, which counts it. The providers' own code is not changed, including its checks of
// names, addresses and certificates.
const { promises } = require("node:dns");
const net = require("node:net");
const tls = require("node:tls");

const PUBLIC = "93.184.215.14";
const internetPort = Number(process.env.ATTACK_INTERNET_PORT);
const trapPort = Number(process.env.ATTACK_TRAP_PORT);
const seen = new Map();

/** `v4-10-0-0-1--93-184-215-14.attack.example` has two addresses; `rebind-` changes them after the first lookup. */
function addressesOf(name, family) {
  const found = /^(rebind-)?(v[46])-([0-9a-f-]+)\.attack\.example$/.exec(name);
  if (found === null) return family === "v4" ? [PUBLIC] : [];
  const [, rebinds, kind, text] = found;
  const lookups = (seen.get(`${family} ${name}`) ?? 0) + 1;
  seen.set(`${family} ${name}`, lookups);
  if (rebinds !== undefined && lookups === 1) return family === "v4" ? [PUBLIC] : [];
  if (kind !== family) return [];
  const separator = family === "v4" ? "." : ":";
  return text.split("--").map((address) => address.replaceAll("-", separator));
}

const resolve = (family) => async (name) => {
  const addresses = addressesOf(name, family);
  if (addresses.length === 0) throw Object.assign(new Error(`no such name: ${name}`), { code: "ENOTFOUND" });
  return addresses;
};
promises.Resolver.prototype.resolve4 = resolve("v4");
promises.Resolver.prototype.resolve6 = resolve("v6");

const connectByTls = tls.connect;
tls.connect = (options, ...rest) => {
  const isInternet = options?.host === PUBLIC && Number(options.port) === 443;
  return connectByTls({ ...options, host: "127.0.0.1", port: isInternet ? internetPort : trapPort }, ...rest);
};

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof options === "object" && options.host !== undefined && !/^(127\.|localhost$)/.test(options.host)) {
    options.host = "127.0.0.1";
    options.port = trapPort;
  }
  return connect.apply(this, args);
};
