import { dialByTls } from "@dataset-oracle/service/egress/connector";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { type Certificate, createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { expect, it, onTestFinished, vi } from "vitest";
import { HOSTS, startTlsExchanges } from "./support/tls-exchanges.js";

const authority = createCertificateAuthority();

it.each<[what: string, reason: string, certificate: () => Certificate]>([
  ["of another name", "ERR_TLS_CERT_ALTNAME_INVALID", () => authority.issue(["api.example.com"])],
  ["that has expired", "CERT_HAS_EXPIRED", () => authority.issue(HOSTS, -1)],
  ["of an unknown authority", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", () => createCertificateAuthority().issue(HOSTS)],
])(
  "a certificate %s is refused, and nothing is sent, whatever the environment says",
  async (_, reason, certificate) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const exchanges = await startTlsExchanges(certificate());
    onTestFinished(() => exchanges.close());
    // The connector is the one of a provider, but for the trusted authority and where the address leads.
    const connect = dialByTls(authority.cert);
    const egress = new Egress({
      resolve: async () => ["93.184.215.14"],
      dial: (options, callback) =>
        connect({ ...options, hostname: "127.0.0.1", port: String(exchanges.port) }, callback),
    });
    const limits = { timeoutMs: 10_000, maxBytes: 1_000 };
    const answer = await egress.fetchText({ url: `https://${HOSTS[0]}/`, method: "GET" }, limits);
    await egress.close();
    expect(answer).toMatchObject({ ok: false, error: { code: "unreachable", detail: reason } });
    expect(exchanges.requests).toEqual([]);
  },
);
