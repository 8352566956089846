import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { expectation } from './expectation.ts'
import type { Mistake } from './mistake.ts'
import { type Environment, type Found, lookUp } from './names.ts'
import { parsers } from './parsers.ts'

export interface Reading {
  value?: unknown
  found?: Found
  mistake?: Mistake
}

/** One variable: its value out of the environment, else its default, else a mistake when it must be set. */
export function readVariable(env: Environment, variable: string, schema: TSchema): Reading {
  const found = lookUp(env, variable, schema)
  if (found === undefined) return withoutText(variable, schema)
  const value = parsers[schema['x-type']]?.(found.text, schema)
  if (value !== undefined && isInRange(schema, value)) return { value, found }
  if (schema['x-shared']) return withoutText(variable, schema)
  // Checks across variables still run, so they get something of the right type where there is one.
  return { value: structuredClone(schema.default), found, mistake: wrong(found, schema) }
}

function withoutText(variable: string, schema: TSchema): Reading {
  if (schema.default !== undefined) return { value: structuredClone(schema.default) }
  if (OptionalKind in schema) return {}
  const problem = 'is not set'
  return { mistake: { variable, problem, remedy: `it must be ${expectation(schema)}` } }
}

function isInRange(schema: TSchema, value: unknown): boolean {
  return schema[Kind] === 'Unsafe' || Value.Check(schema, value)
}

function wrong({ name, text }: Found, schema: TSchema): Mistake {
  const shown = schema['x-secret'] ? 'has a value that is not right' : `is "${cut(text)}"`
  return { variable: name, problem: shown, remedy: `it must be ${expectation(schema)}` }
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
