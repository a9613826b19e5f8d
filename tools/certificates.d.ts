/** A certificate and its private key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority that only tests trust. */
export interface Authority {
  /** The path of its certificate, as PEM. */
  readonly file: string;
  readonly cert: string;
  /** @param days How long the certificate is valid; -1 makes one that has expired. */
  issue(hosts: readonly string[], days?: number): Certificate;
  selfSigned(host: string): Certificate;
}

/**
 * Makes a certificate authority with openssl, because Node makes no certificates.
 *
 * @param folder Receives its files; a new temporary one by default.
 */
export function createCertificateAuthority(folder?: string): Authority;
