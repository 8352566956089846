import { Type } from '@sinclair/typebox'

import { booleanField, forEach, group, textField } from '../core/fields.ts'
import { hookSecrets } from '../core/values.ts'

const { Optional } = Type

/** The hooks, each an HTTP endpoint or database function of the operator. */
export const hookNames = [
  'CUSTOM_ACCESS_TOKEN',
  'SEND_EMAIL',
  'SEND_SMS',
  'MFA_VERIFICATION_ATTEMPT',
  'PASSWORD_VERIFICATION_ATTEMPT',
  'BEFORE_USER_CREATED',
  'AFTER_USER_CREATED',
  'BEFORE_ORGANIZATION_JOIN',
] as const

const words = (name: string) => name.toLowerCase().replaceAll('_', ' ')

export const hooks = group('Hooks', {
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_ENABLED` as const,
    (name) => booleanField(`Enables the ${words(name)} hook.`, false),
  ),
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_URI` as const,
    (name) =>
      Optional(
        textField(
          `Address of the ${words(name)} hook: https, or \`pg-functions://postgres/<schema>/<function>\`.`,
          { 'x-type': 'hook-uri' },
        ),
      ),
  ),
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_SECRETS` as const,
    (name) =>
      hookSecrets(
        `Secrets that sign the requests of the ${words(name)} hook, as \`v1,whsec_...\`, separated by \`|\`. Without a secret the requests are not signed, and the start warns.`,
        { default: [] },
      ),
  ),
})
