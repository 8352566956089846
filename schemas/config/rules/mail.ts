import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { missing } from './missing.ts'

export function mailRule(config: Config): Mistake[] {
  return [...serverMistakes(config), ...confirmationMistakes(config)]
}

function serverMistakes(config: Config): Mistake[] {
  const { AUTH_SMTP_HOST, AUTH_SMTP_ADMIN_EMAIL, AUTH_SMTP_USER, AUTH_SMTP_PASS } = config
  const set = { AUTH_SMTP_HOST, AUTH_SMTP_ADMIN_EMAIL, AUTH_SMTP_USER, AUTH_SMTP_PASS }
  const [first] = Object.entries(set).find(([, value]) => value !== undefined) ?? []
  if (first === undefined) return []
  return [
    ...missing(config, ['AUTH_SMTP_HOST', 'AUTH_SMTP_ADMIN_EMAIL'], `${first} is set`),
    ...(AUTH_SMTP_PASS ? missing(config, ['AUTH_SMTP_USER'], 'AUTH_SMTP_PASS is set') : []),
    ...(AUTH_SMTP_USER ? missing(config, ['AUTH_SMTP_PASS'], 'AUTH_SMTP_USER is set') : []),
  ]
}

/** Together they would let anybody take an account over by claiming its address at a provider. */
function confirmationMistakes(config: Config): Mistake[] {
  const variable = 'AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS'
  if (!config[variable] || !config.AUTH_MAILER_AUTOCONFIRM) return []
  const remedy = 'it must be false while AUTH_MAILER_AUTOCONFIRM is true'
  return [{ variable, problem: 'is true', remedy }]
}
