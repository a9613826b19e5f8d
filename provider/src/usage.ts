/** `provider --help`. */
export const USAGE = `Usage: provider --config FILE [--check-config]

  --config FILE   the configuration, in JSON; its settings are in provider/README.md
  --check-config  check all that a start needs, and end
  --help          show this

The signing key comes from the environment: PROVIDER_PRIVATE_KEY_FILE, the path of a file with it, or
PROVIDER_PRIVATE_KEY, the key itself.`;
