/** Every variable by its names in the environment, documented ones first, and with its schema. */
import type { TSchema } from '@sinclair/typebox'

import { mailLocaleField, mailLocaleNames } from './groups/email.ts'
import {
  type GenericOidcField,
  genericOidcFields,
  genericOidcNames,
} from './groups/external-providers.ts'
import { variableEntries } from './groups/index.ts'

export type Environment = Record<string, string | undefined>

export interface Found {
  text: string
  /** The name in the environment. */
  name: string
  /** A GoTrue name, for which the operator gets a notice. */
  foreign: boolean
}

/** Our names of a variable, the documented one first. */
export function projectVariables(variable: string, schema: TSchema): string[] {
  return [variable, ...(schema['x-aliases'] ?? [])]
}

/** GoTrue's names of a variable: with its prefix, and those it reads without one. */
function foreignNames(variable: string, schema: TSchema): string[] {
  const prefixed = projectVariables(variable, schema).filter((name) => name.startsWith('AUTH_'))
  return [
    ...(schema['x-gotrue-names'] ?? []),
    ...prefixed.map((name) => name.replace('AUTH_', 'GOTRUE_')),
  ]
}

/** The variable's text under the first name that is set; an empty text counts as unset. */
export function lookUp(env: Environment, variable: string, schema: TSchema): Found | undefined {
  for (const name of projectVariables(variable, schema)) {
    const text = env[name]?.trim()
    if (text) return { text, name, foreign: false }
  }
  for (const name of foreignNames(variable, schema)) {
    const text = env[name]?.trim()
    if (text) return { text, name, foreign: true }
  }
  return undefined
}

/** Shells and .env parsers remove quotation marks; docker run --env-file and Kubernetes keep them. */
export function isQuoted(text: string): boolean {
  return /^(["']).*\1$/s.test(text)
}

/** Every name that the server reads. */
export const knownNames: ReadonlySet<string> = new Set(
  variableEntries.flatMap(([variable, schema]) => [
    ...projectVariables(variable, schema),
    ...foreignNames(variable, schema),
  ]),
)

/** The environment name under which each set variable was found. */
export type FoundNames = ReadonlyMap<string, Found>

export type Entries = readonly (readonly [name: string, schema: TSchema])[]

/**
 * Every variable with its schema, including those whose names contain the name of a provider or language. `names` are
 * names of the environment or of a configuration.
 */
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
