/** Every variable with its schema, including those whose names contain the name of a provider or language. */
import type { TSchema } from '@sinclair/typebox'

import {
  type GenericOidcField,
  genericOidcFields,
  genericOidcNames,
} from './groups/generic-oidc.ts'
import { variableEntries } from './groups/index.ts'
import { mailLocaleField, mailLocaleNames } from './groups/mail-locales.ts'

export type Entries = readonly (readonly [name: string, schema: TSchema])[]

/** `names` are names of the environment or of a configuration. */
export function listEntries(names: string[]): Entries {
  return [...variableEntries, ...genericEntries(names), ...mailLocaleEntries(names)]
}

function genericEntries(names: string[]): Entries {
  const fields = Object.keys(genericOidcFields) as GenericOidcField[]
  return genericOidcNames(names).flatMap((provider) =>
    fields.map(
      (field) => [`AUTH_EXTERNAL_OIDC_${provider}_${field}`, genericOidcFields[field]] as const,
    ),
  )
}

function mailLocaleEntries(names: string[]): Entries {
  return mailLocaleNames(names).map((name) => [name, mailLocaleField] as const)
}
