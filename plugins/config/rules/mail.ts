import type { Config, VariableName } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { missing } from './missing.ts'

export function mailRule(config: Config): Mistake[] {
  return [
    ...serverMistakes(config),
    ...headerMistakes(config),
    ...pathMistakes(config),
    ...confirmationMistakes(config),
  ]
}

function serverMistakes(config: Config): Mistake[] {
  const { AUTH_SMTP_HOST, AUTH_SMTP_ADMIN_EMAIL, AUTH_SMTP_USER, AUTH_SMTP_PASS } = config
  const set = { AUTH_SMTP_HOST, AUTH_SMTP_ADMIN_EMAIL, AUTH_SMTP_USER, AUTH_SMTP_PASS }
  const askedBy = Object.entries(set).flatMap(([name, value]) => (value === undefined ? [] : name))
  const mail = { name: 'mail', askedBy, offBy: 'AUTH_SMTP_HOST' }
  const lacks = (needed: readonly VariableName[], given: string) =>
    missing(config, needed, `${given} is set`, mail)
  const [first] = askedBy
  if (first === undefined) return []
  return [
    ...lacks(['AUTH_SMTP_HOST', 'AUTH_SMTP_ADMIN_EMAIL'], first),
    ...(AUTH_SMTP_PASS ? lacks(['AUTH_SMTP_USER'], 'AUTH_SMTP_PASS') : []),
    ...(AUTH_SMTP_USER ? lacks(['AUTH_SMTP_PASS'], 'AUTH_SMTP_USER') : []),
  ]
}

/** Headers that the mail itself has to tell the truth with. */
const reserved =
  /^(?:from|to|cc|bcc|sender|subject|date|message-id|mime-version|content-.*|received|return-path|dkim-signature)$/i

function headerMistakes({ AUTH_SMTP_HEADERS }: Config): Mistake[] {
  const variable = 'AUTH_SMTP_HEADERS'
  const names = Object.keys(AUTH_SMTP_HEADERS).filter((name) => reserved.test(name))
  const remedy = 'it may add headers, not replace those that every mail has'
  return names.map((name) => ({ variable, problem: `sets the header ${name}`, remedy }))
}

const paths = ['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'] as const
/** Stands for AUTH_API_EXTERNAL_URL, which may be a mistake of its own. */
const anyBase = 'https://auth.example.com'

/** Every request that is to send such a link would fail. */
function pathMistakes(config: Config): Mistake[] {
  return paths.flatMap((kind) => {
    const variable = `AUTH_MAILER_URLPATHS_${kind}` as const
    if (URL.canParse(config[variable], anyBase)) return []
    const remedy = 'it must be a path such as /verify, or an address'
    return [{ variable, problem: 'makes no address of a link', remedy }]
  })
}

/** Together they would let anybody take an account over by claiming its address at a provider. */
function confirmationMistakes(config: Config): Mistake[] {
  const variable = 'AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS'
  if (!config[variable] || !config.AUTH_MAILER_AUTOCONFIRM) return []
  const remedy = 'it must be false while AUTH_MAILER_AUTOCONFIRM is true'
  return [{ variable, problem: 'is true', remedy }]
}
