/**
 * The variables that owners may change at run time: their value is read where it is used, and they grant no access to
 * the server or its database. The environment takes precedence over stored settings.
 */
import type { TSchema } from '@sinclair/typebox'

import { expectation } from './core/expectation.ts'
import { type Config, type ConfigVariableName, variables } from './groups/index.ts'
import { readEnvironment } from './read-environment.ts'
import { rules } from './rules/index.ts'

const patterns: readonly RegExp[] = [
  /^AUTH_SITE_URL$/,
  /^AUTH_URI_ALLOW_LIST$/,
  /^AUTH_MAILER_(SUBJECTS|TEMPLATES)_[A-Z_]+$/,
  /^AUTH_MAILER_NOTIFICATIONS_[A-Z_]+_ENABLED$/,
  /^AUTH_RATE_LIMIT_(EMAIL_SENT|SMS_SENT|TOKEN_REFRESH|VERIFY|OTP|PASSKEY|AUTHORIZE|ANONYMOUS_USERS|WEB3|SSO|SCIM|CONSOLE)$/,
  /^AUTH_RATE_LIMIT_OAUTH_(AUTHORIZE|RESOURCE|DYNAMIC_CLIENT_REGISTER)$/,
  /^AUTH_SESSIONS_(TIMEBOX|INACTIVITY_TIMEOUT|ALLOW_LOW_AAL|SINGLE_PER_USER|TAGS)$/,
  /^AUTH_SECURITY_REFRESH_TOKEN_(ROTATION_ENABLED|REUSE_INTERVAL|REUSE_UNTIL_USED)$/,
  /^AUTH_EXTERNAL_[A-Z_]+_(ENABLED|CLIENT_ID|SECRET|REDIRECT_URI)$/,
]

/** Switches of sign-in methods that are not providers. */
const isOtherSwitch = /^AUTH_EXTERNAL_(EMAIL|PHONE|ANONYMOUS_USERS|WEB3_|OIDC_)/

function isSettable(name: string): boolean {
  return patterns.some((pattern) => pattern.test(name)) && !isOtherSwitch.test(name)
}

export const settableEntries: readonly (readonly [ConfigVariableName, TSchema])[] = Object.entries(
  variables,
).flatMap(([name, schema]) => {
  const isInert = schema['x-inert'] !== undefined || schema['x-planned'] === true
  return isSettable(name) && !isInert ? [[name as ConfigVariableName, schema] as const] : []
})

const schemas: ReadonlyMap<string, TSchema> = new Map(settableEntries)

export const isSettableName = (name: string): boolean => schemas.has(name)

/** The error of a setting's text; undefined when it is valid. */
export function findSettingError(name: string, text: string): string | undefined {
  const schema = schemas.get(name)
  if (!schema) return `${name} cannot be changed at run time`
  // Files and paths of the site are for the environment only: the server reads them with its own privileges.
  if (/^AUTH_MAILER_TEMPLATES_/.test(name) && !/^(https:\/\/|<|\{\{)/.test(text)) {
    return `${name} must be a template that starts with < or {{, or an address that starts with https://`
  }
  const read = readValues({ [name]: text })
  return 'invalid' in read ? `${name} must be ${expectation(schema)}` : undefined
}

/** The values of texts; invalid texts are skipped. */
export function settingValues(texts: Readonly<Record<string, string>>): Record<string, unknown> {
  const valid = Object.entries(texts).filter(([name, text]) => !findSettingError(name, text))
  const read = readValues(Object.fromEntries(valid))
  if ('invalid' in read) return {}
  const values: Readonly<Record<string, unknown>> = read
  return Object.fromEntries(valid.map(([name]) => [name, values[name]]))
}

/** Conflicts between the settings and the rest of the configuration, each as a sentence. */
export function settingConflicts(config: Config, values: Record<string, unknown>): string[] {
  const changed = Object.assign({}, config, values)
  const errors = rules.flatMap((rule) => rule(changed))
  return errors
    .filter(({ variable }) => schemas.has(variable))
    .map(({ variable, problem, hint }) => `${variable} ${problem}; ${hint}`)
}

const readValues = (texts: Readonly<Record<string, string>>) =>
  readEnvironment({ entries: settableEntries, texts, dev: false, incomplete: true })
