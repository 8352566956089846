/** The environment names of each variable, documented ones first. */
import type { TSchema } from '@sinclair/typebox'

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
