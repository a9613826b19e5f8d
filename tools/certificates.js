import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=Tests"];

/** @type {typeof import("./certificates.js").createCertificateAuthority} */
export function createCertificateAuthority(folder = mkdtempSync(join(tmpdir(), "authority-"))) {
  /** @param {string[]} args */
  const openssl = (...args) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  /** @param {string} name */
  const read = (name) => readFileSync(join(folder, name), "utf8");
  openssl("req", "-x509", ...NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "1");
  let issued = 0;
  /** @type {import("./certificates.js").Authority["issue"]} */
  const issue = (hosts, days = 1) => {
    const name = String(++issued);
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(",")}\n`);
    openssl("req", ...NEW_KEY, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", `${name}.ext`];
    openssl("x509", "-req", "-in", `${name}.csr`, ...signed, "-days", String(days), "-out", `${name}.pem`);
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  /** @type {import("./certificates.js").Authority["selfSigned"]} */
  const selfSigned = (host) => {
    const name = ["-keyout", "self.key", "-out", "self.pem", "-days", "1", "-addext", `subjectAltName=DNS:${host}`];
    openssl("req", "-x509", ...NEW_KEY, ...name);
    return { cert: read("self.pem"), key: read("self.key") };
  };
  return { file: join(folder, "ca.pem"), cert: read("ca.pem"), issue, selfSigned };
}
