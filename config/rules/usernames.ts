import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'

export function usernamesRule(config: Config): ConfigIssue[] {
  const { AUTH_USERNAMES_MIN_LENGTH: least, AUTH_USERNAMES_MAX_LENGTH: most } = config
  if (least <= most) return []
  return [
    {
      variable: 'AUTH_USERNAMES_MIN_LENGTH',
      problem: `is ${least}, and AUTH_USERNAMES_MAX_LENGTH is ${most}`,
      hint: 'the minimum must not exceed the maximum',
    },
  ]
}
