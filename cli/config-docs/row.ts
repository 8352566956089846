/** A variable in the reference and the example. */
import { OptionalKind, type TSchema } from '@sinclair/typebox'

import { formatDuration } from '../../schemas/values/duration.ts'

export interface ReferenceRow {
  name: string
  /** Other names of the variable. */
  aliases: string[]
  type: string
  required: boolean
  /** The default, in words; empty without one. */
  preset: string
  /** The default is a value that could be set, not an explanation. */
  presetIsValue: boolean
  /** Accepted without effect. */
  ignored: boolean
  meaning: string
  example: string
}

const types: Record<string, string> = {
  bool: 'true, false',
  whole: 'whole number',
  choices: 'list',
  url: 'URL',
  link: 'URL',
  site: 'URL',
  'postgres-url': 'URL',
  'postgres-urls': 'URLs',
  'redis-url': 'URL',
  'hook-uri': 'URL',
  'schema-name': 'text',
  prefix: 'path',
  header: 'header name',
  'header-names': 'list',
  hosts: 'list',
  'json-hosts': 'list',
  address: 'email address',
  'secret-bytes': 'text',
  keys: 'list of keys',
  'key-map': 'map of keys',
  'hook-secrets': 'secrets',
  'test-codes': 'map',
  'character-sets': 'sets',
  headers: 'JSON',
  jwks: 'JSON',
  moment: 'RFC 3339',
  pem: 'PEM',
}

export function toVariableRow(name: string, schema: TSchema): ReferenceRow {
  const isOptional = OptionalKind in schema
  const required = !isOptional && schema.default === undefined
  return {
    name,
    aliases: schema['x-aliases'] ?? [],
    type: describeType(schema),
    required,
    preset: required ? '' : describeDefault(schema),
    presetIsValue: schema.default !== undefined,
    ignored: schema['x-inert'] !== undefined,
    meaning: [schema.description, withoutEffect(schema)].filter(Boolean).join(' '),
    example: schema['x-example'] ?? '',
  }
}

function describeType(schema: TSchema): string {
  const type: string = schema['x-type']
  const shown = type === 'choice' ? schema.enum.join(', ') : (types[type] ?? type)
  return shown + range(schema)
}

function range({ minimum, maximum, 'x-type': type }: TSchema): string {
  if (type === 'duration') return minimum > 1 ? `, from ${formatDuration(minimum)}` : ''
  if (maximum !== undefined) return `, ${minimum} to ${maximum}`
  return minimum > 0 ? `, from ${minimum}` : ''
}

function describeDefault(schema: TSchema): string {
  const preset: unknown = schema['x-default-text'] ?? schema.default
  if (Array.isArray(preset)) return preset.join(',')
  if (typeof preset === 'object' || preset === undefined) return ''
  return String(preset)
}

function withoutEffect(schema: TSchema): string {
  const inert: unknown = schema['x-inert']
  const deprecated: unknown = schema['x-deprecated']
  if (inert !== undefined) return `Ignored: ${inert}.`
  return deprecated === undefined ? '' : `Deprecated: ${deprecated}.`
}
