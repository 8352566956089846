/** Groups the variables by heading, in declaration order. */
import { OptionalKind, type TSchema } from '@sinclair/typebox'

import { genericOidcFields, providerVariableNames } from '../../config/groups/external-providers.ts'
import { variableEntries } from '../../config/groups/index.ts'
import { formatDuration } from '../../schemas/values/duration.ts'

export interface Section {
  title: string
  /** Not implemented yet. */
  planned: boolean
  /** A note about the whole section. */
  note: string
  rows: ReferenceRow[]
}

const providerTitle = 'External providers'
const firstProvider = `AUTH_EXTERNAL_${providerVariableNames[0]}_`
const providerNames = providerVariableNames.map((name) => `\`${name}\``).join(', ')

export function listReferenceSections(): Section[] {
  const byTitle = Map.groupBy(variableEntries, ([, schema]): string => schema['x-group'])
  return [...byTitle].flatMap(([title, entries]) =>
    title === providerTitle
      ? [providerSection(entries), genericSection()]
      : [section(title, entries)],
  )
}

function section(title: string, entries: [string, TSchema][]): Section {
  const planned = entries.every(([, schema]) => schema['x-planned'])
  return {
    title,
    planned,
    note: '',
    rows: entries.map(([name, schema]) => toVariableRow(name, schema)),
  }
}

/** All providers have the same variables: one section describes them. */
function providerSection(entries: [string, TSchema][]): Section {
  const rows = entries
    .filter(([name]) => name.startsWith(firstProvider))
    .map(([name, schema]) =>
      toVariableRow(name.replace(firstProvider, 'AUTH_EXTERNAL_<PROVIDER>_'), schema),
    )
  const note = `\`<PROVIDER>\` stands for one of ${providerNames}. An enabled provider requires its client id, secret and redirect URI.`
  return { title: providerTitle, planned: false, note, rows }
}

function genericSection(): Section {
  const rows = Object.entries(genericOidcFields).map(([field, schema]) =>
    toVariableRow(`AUTH_EXTERNAL_OIDC_<NAME>_${field}`, schema),
  )
  const note =
    '`<NAME>` is a name of your choice in upper case. Clients send it in lower case as `provider`. There can be any number of them.'
  return { title: 'Other OpenID Connect providers', planned: false, note, rows }
}

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

function toVariableRow(name: string, schema: TSchema): ReferenceRow {
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
