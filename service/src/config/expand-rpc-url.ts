import { ConfigError } from "./config-error.js";

/**
 * Expands `${NAME}` in a URL to the environment variable of that name. Requires http or https, without a user name and
 * password.
 *
 * @param setting The setting's name, for errors.
 * @throws ConfigError without the URL, which may hold a token.
 */
export function expandRpcUrl(template: string, setting: string, env: NodeJS.ProcessEnv): string {
  const url = template.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (!value)
      throw new ConfigError(`${setting} uses \${${name}}, but the variable ${name} is unset or empty. Set it.`);
    return value;
  });
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(`${setting} is not a URL that starts with http:// or https://.`);
  }
  // fetch refuses a URL with credentials, and repeats it in its error.
  const { username, password } = new URL(url);
  if (username || password)
    throw new ConfigError(`${setting} contains a user name or password. Use a token in the path instead.`);
  return url;
}
