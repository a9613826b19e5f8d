// Loaded by tests into each process that they start (NODE_OPTIONS=--require): names resolve to a public address, and
// connections to that address on port 443 go to the test's server. All of the processes' own code stays as it is,
// including the checks of addresses and certificates.
const { promises } = require("node:dns");
const tls = require("node:tls");

const ADDRESS = "93.184.215.14";
const port = Number(process.env.REDIRECT_PORT);
const hosts = (process.env.REDIRECT_HOSTS ?? "").split(",");

promises.Resolver.prototype.resolve4 = async (name) => {
  if (!hosts.includes(name)) throw Object.assign(new Error(`no such name: ${name}`), { code: "ENOTFOUND" });
  return [ADDRESS];
};
promises.Resolver.prototype.resolve6 = async (name) => {
  throw Object.assign(new Error(`no such address: ${name}`), { code: "ENODATA" });
};

const { connect } = tls;
tls.connect = (options, ...rest) => {
  const isPublic = options?.host === ADDRESS && Number(options.port) === 443;
  return connect(isPublic ? { ...options, host: "127.0.0.1", port } : options, ...rest);
};
