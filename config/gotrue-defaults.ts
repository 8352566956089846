/** GoTrue's defaults where this server's differ: they apply to an environment written for GoTrue. */
import { emailKindDefinitions } from '../mail/kinds/index.ts'
import type { FoundNames } from './found-names.ts'
import type { Config } from './groups/index.ts'

const notifications = Object.values(emailKindDefinitions).flatMap((kind) =>
  'event' in kind ? [`AUTH_MAILER_NOTIFICATIONS_${kind.event}_ENABLED` as const] : [],
)

/** On by default here, off in GoTrue. */
const recoveryCodes = [
  'AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED',
  'AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED',
] as const

const reuseIntervalNotice =
  'As in GoTrue, no notifications are sent and a session of any age may add or change a sign-in method; set AUTH_SECURITY_FRESH_PROOF_MAX_AGE (10m) and the AUTH_MAILER_NOTIFICATIONS_ flags when your apps reauthenticate users.'

/**
 * Disables notifications, recovery codes and the recent-authentication requirement, unless the environment sets them.
 */
export function withGotrueDefaults(
  config: Config,
  found: FoundNames,
  warn: (message: string) => void,
): Config {
  const named = withClientAccess(config, found, warn)
  if (found.get('AUTH_JWT_SECRET')?.foreign !== true) return named
  const off = [...notifications, ...recoveryCodes].filter((name) => !found.has(name))
  const isAgeSet = found.has('AUTH_SECURITY_FRESH_PROOF_MAX_AGE')
  if (!isAgeSet) warn(reuseIntervalNotice)
  return {
    ...named,
    ...Object.fromEntries(off.map((name) => [name, false])),
    ...(!isAgeSet && { AUTH_SECURITY_FRESH_PROOF_MAX_AGE: 0 }),
  }
}

const dataAccess = 'AUTH_OAUTH_SERVER_SELF_REGISTERED_CLIENTS_DATA_ACCESS'

/** GoTrue gives the tokens of every client the rights of the user. */
function withClientAccess(
  config: Config,
  found: FoundNames,
  warn: (message: string) => void,
): Config {
  const isGotrue = found.get('AUTH_OAUTH_SERVER_ENABLED')?.foreign === true
  if (!isGotrue || !config.AUTH_OAUTH_SERVER_ENABLED || found.has(dataAccess)) return config
  warn(
    `As in GoTrue, clients that register themselves get tokens with the role and the audience of the user, to which your policies apply; ${dataAccess}=false limits them to identifying the user.`,
  )
  return { ...config, [dataAccess]: true }
}
