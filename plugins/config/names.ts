/** Which names of the environment stand for which variable, the documented ones first. */
import type { TSchema } from '@sinclair/typebox'

import { variableEntries } from './config.ts'

export type Environment = Record<string, string | undefined>

export interface Found {
  text: string
  /** The name under which the value stood in the environment. */
  name: string
  /** The name belongs to another server, so the operator gets a notice. */
  foreign: boolean
}

/** Our names for a variable, the documented one first. */
export function ownNames(variable: string, schema: TSchema): string[] {
  return [variable, ...(schema['x-aliases'] ?? [])]
}

/** The names another server has for a variable: its prefix, and what it reads without one. */
function foreignNames(variable: string, schema: TSchema): string[] {
  const prefixed = ownNames(variable, schema).filter((name) => name.startsWith('AUTH_'))
  return [
    ...(schema['x-gotrue-names'] ?? []),
    ...prefixed.map((name) => name.replace('AUTH_', 'GOTRUE_')),
  ]
}

/** The variable's text under the first of its names that has one; an empty text is none. */
export function lookUp(env: Environment, variable: string, schema: TSchema): Found | undefined {
  for (const name of ownNames(variable, schema)) {
    const text = env[name]?.trim()
    if (text) return { text, name, foreign: false }
  }
  for (const name of foreignNames(variable, schema)) {
    const text = env[name]?.trim()
    if (text) return { text, name, foreign: true }
  }
  return undefined
}

/** Shells and .env files take such marks away; docker run --env-file and Kubernetes keep them. */
export function isQuoted(text: string): boolean {
  return /^(["']).*\1$/s.test(text)
}

/** Every name that means something here. */
export const knownNames: ReadonlySet<string> = new Set(
  variableEntries.flatMap(([variable, schema]) => [
    ...ownNames(variable, schema),
    ...foreignNames(variable, schema),
  ]),
)
