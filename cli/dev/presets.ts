/** Defaults of a development server; the environment and `.env` take precedence. */
import { type ConfigVariableName, variables } from '../../config/groups/index.ts'
import { type Environment, lookUp } from '../../config/names.ts'

/** Default ports of Next.js and others, Vite, and Angular. */
const sitePorts = ['3000', '5173', '4200']

/** The same on each machine. */
const development: Partial<Record<ConfigVariableName, string>> = {
  AUTH_API_HOST: '127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  LOG_LEVEL: 'warn',
  AUTH_CONSOLE_ENABLED: 'true',
  AUTH_ACCOUNT_PAGE_ENABLED: 'true',
  AUTH_ORGANIZATIONS_ENABLED: 'true',
  AUTH_USERNAMES_ENABLED: 'true',
  AUTH_OAUTH_SERVER_ENABLED: 'true',
  AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
  AUTH_EXPERIMENTAL_SCIM_ENABLED: 'true',
  AUTH_EVENTS_ENABLED: 'true',
  AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
  AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
  AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
  AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
  AUTH_PASSKEY_ENABLED: 'true',
  // Browsers allow passkeys on this name without TLS.
  AUTH_WEBAUTHN_RP_ID: 'localhost',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Postern in development',
  // Developers repeat requests within a minute.
  AUTH_SMTP_MAX_FREQUENCY: '1s',
  AUTH_SMS_MAX_FREQUENCY: '1s',
  AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
  AUTH_RATE_LIMIT_SMS_SENT: '1000',
}

/** Adds defaults for variables that `env` does not set under any name. `own` are the values of this machine. */
export function withPresets(env: Environment, own: Partial<Record<ConfigVariableName, string>>) {
  const given = lookUp(env, 'PORT', variables.PORT)?.text ?? '8081'
  // An invalid port is reported by its own check, not by the URLs derived from it.
  const port = /^\d{1,5}$/.test(given) ? given : '8081'
  const local = `http://127.0.0.1:${port}`
  const address = lookUp(env, 'AUTH_API_EXTERNAL_URL', variables.AUTH_API_EXTERNAL_URL)?.text
  const presets: Partial<Record<ConfigVariableName, string>> = {
    ...development,
    PORT: given,
    AUTH_API_EXTERNAL_URL: local,
    // A page of this server, so that the first link has a target.
    AUTH_SITE_URL: `${(address ?? local).replace(/\/$/, '')}/dev/signed-in`,
    AUTH_WEBAUTHN_RP_ORIGINS: [port, ...sitePorts].map((each) => `http://localhost:${each}`).join(),
    ...own,
  }
  const missing = Object.entries(presets).filter(
    ([name]) => lookUp(env, name, variables[name as ConfigVariableName]) === undefined,
  )
  return { ...env, ...Object.fromEntries(missing) }
}
