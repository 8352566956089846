/** What a development server has without being told; the environment and `.env` win. */
import { type VariableName, variables } from '../../plugins/config/config.ts'
import { type Environment, lookUp } from '../../plugins/config/names.ts'

/** Values for whatever `env` does not set under any of its names. `own` comes from this machine. */
export function withPresets(env: Environment, own: Partial<Record<VariableName, string>>) {
  const port = lookUp(env, 'PORT', variables.PORT)?.text ?? '8081'
  const presets: Partial<Record<VariableName, string>> = {
    AUTH_API_HOST: '127.0.0.1',
    PORT: port,
    AUTH_API_EXTERNAL_URL: `http://127.0.0.1:${port}`,
    AUTH_SITE_URL: 'http://127.0.0.1:3000',
    AUTH_DB_DRIVER: 'postgres',
    LOG_LEVEL: 'warn',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
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
