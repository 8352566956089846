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
    { schema, data: { ...texts, dev }, env: false, ajv: validator ?? reading },
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
    wrong: of('variables').map(({ instancePath }) => instancePath.slice(1)),
  }
}

// What is compiled for a schema is found again by its object.
const schemas = new Map<string, object>()

function schemaOf(entries: Entries, incomplete: boolean): object {
  const key = `${incomplete} ${entries.map(([name]) => name).join()}`
  const known = schemas.get(key)
  if (known) return known
  const isNeeded = (schema: TSchema) => !(OptionalKind in schema) && schema.default === undefined
  const needed = entries.filter(([, schema]) => isNeeded(schema)).map(([name]) => name)
  const made = {
    type: 'object',
    required: incomplete ? [] : needed,
    properties: { ...Object.fromEntries(entries.map(([name]) => [name, {}])), dev: {} },
    variables: entries,
  }
  schemas.set(key, made)
  return made
}

type CustomOptions = Extract<FastifyEnvOptions['ajv'], { customOptions: unknown }>['customOptions']
type Ajv = ReturnType<CustomOptions>

let validator: Ajv | undefined

/** One keyword for all variables: to compile one for each of some hundred takes longer than the rest of the boot. */
const reading = {
  customOptions: (instance: Ajv): Ajv => {
    Object.assign(instance.opts, { validateSchema: false })
    validator = instance.addKeyword({ keyword: 'variables', modifying: true, compile: readerOf })
    return validator
  },
}

type Values = Record<string, unknown>

interface Read {
  (values: Values): boolean
  errors?: Fault[]
}

/** Puts values into the places of texts. */
function readerOf(entries: Entries): Read {
  const read: Read = (values) => {
    const wrong = entries.filter(([name, schema]) => !parse(schema, values, name))
    read.errors = wrong.map(([name]) => ({
      keyword: 'variables',
      instancePath: `/${name}`,
      params: {},
    }))
    return wrong.length === 0
  }
  return read
}

/** A default is a value already. A text of other software under a name that we share is passed over. */
function parse(schema: TSchema, values: Values, name: string): boolean {
  const text = values[name] ?? defaultOf(schema)
  if (text !== undefined) values[name] = text
  if (typeof text !== 'string') return true
  const value = parsers[schema['x-type']]?.(text, schema)
  const isRight = value !== undefined && isInRange(schema, value)
  if (!isRight && !schema['x-shared']) return false
  values[name] = isRight ? value : schema.default
  return true
}

/** A list or a map is made anew: what one configuration does with it is nothing to the next. */
function defaultOf({ default: preset }: TSchema): unknown {
  return typeof preset === 'object' ? structuredClone(preset) : preset
}

function isInRange(schema: TSchema, value: unknown): boolean {
  return schema[Kind] === 'Unsafe' || Value.Check(schema, value)
}
