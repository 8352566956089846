/** Parses the text of variables to values according to their schemas. plugins/config.ts validates the result. */
import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { parsers } from './core/parsers.ts'
import type { Config } from './groups/index.ts'
import type { Entries } from './names.ts'

/** Names of required variables that are not set, and of variables with invalid text. */
export interface ConfigIssues {
  missing: string[]
  invalid: string[]
}

interface VariableSource {
  entries: Entries
  texts: Readonly<Record<string, string>>
  dev: boolean
  /** Accepts missing required variables, so that the others can be checked. */
  incomplete: boolean
}

/** The values including defaults, or all issues. */
export function readEnvironment({
  entries,
  texts,
  dev,
  incomplete,
}: VariableSource): Config | ConfigIssues {
  const values: Partial<Record<string, unknown>> = {}
  const issues: ConfigIssues = { missing: [], invalid: [] }
  for (const [name, schema] of entries) {
    const text = texts[name] ?? copyDefault(schema)
    const isMissing = text === undefined && !(OptionalKind in schema)
    if (isMissing && !incomplete) issues.missing.push(name)
    const parsed = parse(schema, text)
    if (!parsed) issues.invalid.push(name)
    values[name] = parsed?.value
  }
  if (issues.missing.length > 0 || issues.invalid.length > 0) return issues
  // Each value was checked against the schema from which its type is derived.
  return Object.assign(values as Config, { dev, given: new Set(Object.keys(texts)) })
}

/** A default may already be a value. Invalid text of a variable that other software also uses is ignored. */
function parse(schema: TSchema, text: unknown): { value: unknown } | undefined {
  if (typeof text !== 'string') return { value: text }
  const value = parsers[schema['x-type']]?.(text, schema)
  if (value !== undefined && isInRange(schema, value)) return { value }
  return schema['x-shared'] ? { value: schema.default } : undefined
}

/** Whether this text is valid for a variable of this schema. */
export function accepts(schema: TSchema, text: string): boolean {
  return parse(schema, text) !== undefined
}

/** A copy, so that two configurations do not share a list. */
function copyDefault({ default: preset }: TSchema): unknown {
  return typeof preset === 'object' ? structuredClone(preset) : preset
}

function isInRange(schema: TSchema, value: unknown): boolean {
  return schema[Kind] === 'Unsafe' || Value.Check(schema, value)
}
