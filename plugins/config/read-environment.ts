/**
 * The environment as @fastify/env reads it: the text of each variable becomes the value that its schema describes.
 * What is read opens the log and the database, so it is read before the server is built, on an instance of its own.
 */
import { type FastifyEnvOptions, fastifyEnv } from '@fastify/env'
import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import Fastify from 'fastify'

import type { Config } from './config.ts'
import { parsers } from './parsers.ts'

export type Entries = readonly (readonly [name: string, schema: TSchema])[]

/** Names of variables that must be set and are not, and of those whose text is none of their kind. */
export interface Faults {
  missing: string[]
  wrong: string[]
}

export interface Source {
  entries: Entries
  texts: Readonly<Record<string, string>>
  dev: boolean
  /** Variables that must be set may be missing: for what can be said of the others. */
  incomplete: boolean
}

/** The values with their defaults, or every fault at once. */
export function readEnvironment({ entries, texts, dev, incomplete }: Source): Config | Faults {
  const reader = Fastify()
  const schema = schemaOf(entries, incomplete)
  let fault: Error | undefined
  fastifyEnv(
    reader,
    { schema, data: { ...texts, dev }, env: false, ajv: validator?.deref() ?? reading },
    (error) => {
      fault = error
    },
  )
  if (fault) return faultsOf(fault)
  const unset = Object.fromEntries(entries.map(([name]) => [name, undefined]))
  return { ...unset, ...reader.config }
}

interface Fault {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
}

function faultsOf(thrown: Error): Faults {
  const faults: Fault[] = 'errors' in thrown && Array.isArray(thrown.errors) ? thrown.errors : []
  if (faults.length === 0) throw thrown
  const of = (keyword: string) => faults.filter((fault) => fault.keyword === keyword)
  return {
    missing: of('required').map(({ params }) => String(params.missingProperty)),
    wrong: of('reads').map(({ instancePath }) => instancePath.slice(1)),
  }
}

// Compiling a schema of some hundred variables costs more than all the rest of the boot.
const schemas = new Map<string, object>()

function schemaOf(entries: Entries, incomplete: boolean): object {
  const key = `${incomplete} ${entries.map(([name]) => name).join()}`
  const known = schemas.get(key)
  if (known) return known
  const properties = entries.map(([name, schema]) => {
    const { default: preset } = schema
    return [name, { reads: schema, ...(preset !== undefined && { default: preset }) }] as const
  })
  const isNeeded = (schema: TSchema) => !(OptionalKind in schema) && schema.default === undefined
  const needed = entries.filter(([, schema]) => isNeeded(schema)).map(([name]) => name)
  const made = {
    type: 'object',
    required: incomplete ? [] : needed,
    properties: { ...Object.fromEntries(properties), dev: { type: 'boolean' } },
  }
  schemas.set(key, made)
  return made
}

type CustomOptions = Extract<FastifyEnvOptions['ajv'], { customOptions: unknown }>['customOptions']
type Ajv = ReturnType<CustomOptions>

// Its code is larger than that of all routes together, and a server that runs has no more use for it.
let validator: WeakRef<Ajv> | undefined

/** One validator for readings one after the other, with the keyword that turns a text into its value. */
const reading = {
  customOptions: (instance: Ajv): Ajv => {
    Object.assign(instance.opts, {
      coerceTypes: false,
      validateSchema: false,
      // It is run once or twice: what makes it run faster takes longer than it runs.
      code: { ...instance.opts.code, optimize: 0 },
    })
    const made = instance.addKeyword({ keyword: 'reads', modifying: true, compile: parse })
    validator = new WeakRef(made)
    return made
  },
}

interface Place {
  parentData: Record<string, unknown>
  parentDataProperty: string | number
}

/** A default is a value already. A text of other software under a name that we share is passed over. */
function parse(schema: TSchema) {
  return (text: unknown, place?: Place): boolean => {
    if (typeof text !== 'string' || !place) return true
    const value = parsers[schema['x-type']]?.(text, schema)
    const isRight = value !== undefined && isInRange(schema, value)
    if (!isRight && !schema['x-shared']) return false
    place.parentData[place.parentDataProperty] = isRight ? value : schema.default
    return true
  }
}

function isInRange(schema: TSchema, value: unknown): boolean {
  return schema[Kind] === 'Unsafe' || Value.Check(schema, value)
}
