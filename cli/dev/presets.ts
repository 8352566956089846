/** What a development server has without being told; the environment and `.env` win. */
import { type VariableName, variables } from '../../plugins/config/config.ts'
import { type Environment, lookUp } from '../../plugins/config/names.ts'

/** Where the development servers of sites listen: Next.js and others, Vite, Angular. */
const sitePorts = ['3000', '5173', '4200']

/** Values for whatever `env` does not set under any of its names. `own` comes from this machine. */
export function withPresets(env: Environment, own: Partial<Record<VariableName, string>>) {
  const given = lookUp(env, 'PORT', variables.PORT)?.text ?? '8081'
  // One that is none is a mistake of its own; addresses that are made from it would only repeat it.
  const port = /^\d{1,5}$/.test(given) ? given : '8081'
  const local = `http://127.0.0.1:${port}`
  const address = lookUp(env, 'AUTH_API_EXTERNAL_URL', variables.AUTH_API_EXTERNAL_URL)?.text
  const presets: Partial<Record<VariableName, string>> = {
    AUTH_API_HOST: '127.0.0.1',
    PORT: given,
    AUTH_API_EXTERNAL_URL: local,
    // A page of ours, so that the first link leads somewhere.
    AUTH_SITE_URL: `${(address ?? local).replace(/\/$/, '')}/dev/signed-in`,
    AUTH_DB_DRIVER: 'postgres',
    LOG_LEVEL: 'warn',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
    AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
    AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
    AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
    AUTH_PASSKEY_ENABLED: 'true',
    // Browsers make passkeys for this name without TLS.
    AUTH_WEBAUTHN_RP_ID: 'localhost',
    AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Postern in development',
    AUTH_WEBAUTHN_RP_ORIGINS: [port, ...sitePorts].map((each) => `http://localhost:${each}`).join(),
    // One person tries everything, many times in a minute.
    AUTH_SMTP_MAX_FREQUENCY: '1s',
    AUTH_SMS_MAX_FREQUENCY: '1s',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
    AUTH_RATE_LIMIT_SMS_SENT: '1000',
    ...own,
  }
  const missing = Object.entries(presets).filter(
    ([name]) => lookUp(env, name, variables[name as VariableName]) === undefined,
  )
  return { ...env, ...Object.fromEntries(missing) }
}
