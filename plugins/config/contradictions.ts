/** Settings that are right one by one, and of which one takes from people what another one gives them. */
import { formatDuration } from '../../schemas/duration.ts'
import type { Config } from './config.ts'

/** A sentence for each. */
export function contradictions(config: Config): string[] {
  const notices: string[] = []
  const { AUTH_SESSIONS_INACTIVITY_TIMEOUT: longestPause } = config
  if (longestPause !== undefined && longestPause <= config.AUTH_JWT_EXP) {
    notices.push(
      `AUTH_SESSIONS_INACTIVITY_TIMEOUT is not above AUTH_JWT_EXP: clients refresh when a token is about to expire, and sessions in use end ${formatDuration(longestPause)} after each refresh.`,
    )
  }
  if (config.AUTH_MFA_REQUIRED_ROLES.length > 0 && !canAddFactor(config)) {
    notices.push(
      'AUTH_MFA_REQUIRED_ROLES is set, and no kind of second factor can be added and proven (AUTH_MFA_..._ENROLL_ENABLED, AUTH_MFA_..._VERIFY_ENABLED): people of these roles can do nothing.',
    )
  }
  return notices
}

function canAddFactor(config: Config): boolean {
  const kinds = ['TOTP', 'PHONE', 'WEB_AUTHN'] as const
  return kinds.some(
    (kind) =>
      config[`AUTH_MFA_${kind}_ENROLL_ENABLED`] && config[`AUTH_MFA_${kind}_VERIFY_ENABLED`],
  )
}
