import type { TSchema } from '@sinclair/typebox'

import { formatDuration } from '../../schemas/values/duration.ts'

const expected: Record<string, string> = {
  text: 'a text',
  bool: 'true or false',
  whole: 'a whole number',
  number: 'a number',
  duration: 'a duration such as 90s, 15m, 1h30m or 7d, or a number of seconds',
  list: 'values separated by commas',
  url: 'a URL that starts with https:// or http://',
  link: 'a URL that starts with https:// or http://',
  site: 'a URL such as https://app.example.com',
  'postgres-url':
    'a URL such as postgres://user:password@host:5432/database, with the characters # % @ / of a password written as %23 %25 %40 %2F, or keywords such as host=db user=postern dbname=postern',
  'postgres-urls': 'URLs such as postgres://user:password@host:5432/database, separated by commas',
  'redis-url': 'a URL such as redis://host:6379',
  'hook-uri': 'an https:// or pg-functions:// address',
  'schema-name':
    'a schema name of lower-case letters, digits and underscores, at most 58 characters, which does not begin with a digit or pg_',
  prefix: 'a path such as /auth/v1, or / for none',
  header: 'the name of a header, such as X-Real-IP',
  'header-names': 'names of headers, separated by commas',
  'json-hosts': 'host names, as a JSON array or separated by commas',
  hosts: 'host names such as auth.example.com, without https://, separated by commas',
  address: 'an email address',
  'secret-bytes': 'at least 32 bytes long, such as the output of `openssl rand -base64 48`',
  key: '32 bytes as base64url, which are 43 characters',
  keys: 'keys of 32 bytes as base64url (43 characters each), separated by commas',
  'key-map': 'id:key,id:key with keys of 32 bytes as base64url (43 characters each)',
  'hook-secrets': 'v1,whsec_ and 24 to 64 bytes as base64, several separated by |',
  pem: 'a key in PEM form',
  rate: 'a number per hour such as 30, or a number per duration such as 5/10m',
  'test-codes': 'phone:code,phone:code with numbers in E.164 form and codes of digits',
  'character-sets': 'sets of characters separated by colons',
  headers: 'JSON such as {"X-Kind": ["$messageType"]}',
  jwks: 'a JSON array of JSON Web Keys',
  networks: 'none, or addresses and networks such as 10.0.0.0/8, separated by commas',
  webhooks:
    'JSON such as [{"url": "https://app.example.com/events", "secrets": ["v1,whsec_..."]}], with known events',
  locale: 'a language tag such as de or pt-BR',
  languages: 'JSON files named after their language, such as sv.json, separated by commas',
  moment: 'a time such as 2030-01-01T00:00:00Z',
}

/** Describes a valid value of the variable, as part of a sentence. */
export function expectation(schema: TSchema): string {
  const type: string = schema['x-type']
  if (type === 'choice') return formatChoices(schema.enum)
  if (type === 'choices') return `values of ${schema.items.enum.join(', ')}, separated by commas`
  if (type === 'map') return `name${schema['x-sign'] ?? ':'}value, several separated by commas`
  return [expected[type], bounds(schema)].filter(Boolean).join(', ')
}

function formatChoices(words: string[]): string {
  return words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`
}

function bounds({ minimum, exclusiveMinimum, maximum, minItems, 'x-type': type }: TSchema): string {
  const show = (bound: number) => (type === 'duration' ? formatDuration(bound) : String(bound))
  if (minItems !== undefined) return 'at least one'
  if (exclusiveMinimum !== undefined) return `above ${show(exclusiveMinimum)}`
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  if (minimum) return `at least ${show(minimum)}`
  return minimum === 0 ? 'not below 0' : ''
}
