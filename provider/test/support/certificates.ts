import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its private key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** An authority of the tests' own, which nobody else trusts. */
interface Authority {
  /** The path of its certificate, as PEM. */
  readonly file: string;
  readonly cert: string;
  /** @param days How long the certificate is valid; -1 makes one that has expired. */
  issue(hosts: readonly string[], days?: number): Certificate;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=Tests"];

/** Makes an authority with openssl, because Node makes no certificates. */
export function makeAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "authority-"));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  openssl("req", "-x509", ...NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "1");
  let issued = 0;
  return {
    file: join(folder, "ca.pem"),
    cert: read("ca.pem"),
    issue: (hosts, days = 1) => {
      const name = String(++issued);
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(",")}\n`);
      openssl("req", ...NEW_KEY, "-keyout", `${name}.key`, "-out", `${name}.csr`);
      const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", `${name}.ext`];
      openssl("x509", "-req", "-in", `${name}.csr`, ...signed, "-days", String(days), "-out", `${name}.pem`);
      return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
    },
  };
}
