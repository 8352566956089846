import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'

export function usernamesRule(config: Config): ConfigIssue[] {
  const { AUTH_USERNAMES_MIN_LENGTH: minLength, AUTH_USERNAMES_MAX_LENGTH: maxLength } = config
  if (minLength <= maxLength) return []
  return [
    {
      variable: 'AUTH_USERNAMES_MIN_LENGTH',
      problem: `is ${minLength}, and AUTH_USERNAMES_MAX_LENGTH is ${maxLength}`,
      hint: 'the minimum must not exceed the maximum',
    },
  ]
}
