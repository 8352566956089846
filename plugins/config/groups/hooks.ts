import { Type } from '@sinclair/typebox'

import { flag, forEach, group, text } from '../fields.ts'
import { hookSecrets } from '../values.ts'

const { Optional } = Type

/** The moments at which a server or database function of the operator is asked. */
export const hookNames = [
  'CUSTOM_ACCESS_TOKEN',
  'SEND_EMAIL',
  'SEND_SMS',
  'MFA_VERIFICATION_ATTEMPT',
  'PASSWORD_VERIFICATION_ATTEMPT',
  'BEFORE_USER_CREATED',
  'AFTER_USER_CREATED',
] as const

const words = (name: string) => name.toLowerCase().replaceAll('_', ' ')

export const hooks = group('Hooks', {
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_ENABLED` as const,
    (name) => flag(`Turns the ${words(name)} hook on.`, false),
  ),
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_URI` as const,
    (name) =>
      Optional(
        text(
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
        `Secrets the ${words(name)} hook’s requests are signed with, as \`v1,whsec_...\`, separated by \`|\`. Without one they are not signed, and the start warns.`,
        { default: [] },
      ),
  ),
})
