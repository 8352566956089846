/** An example of every response and error, generated from its schema. */
import { isRecord } from '../../../schemas/values/record.ts'

type Json = { [key: string]: unknown }

const id = '2f6c1f0e-8f0b-4a39-9b1c-3a6d9a7f5e21'
const time = '2026-01-31T12:00:00.000Z'

/** By property name, used where the schema's type allows it. */
const known: Json = {
  id,
  access_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIyZjZjMWYwZSJ9.c2lnbmF0dXJl',
  refresh_token: 'vN4dLmTq2rXw',
  expires_in: 3600,
  expires_at: 1_769_864_400,
  aud: 'authenticated',
  role: 'authenticated',
  email: 'ann@example.com',
  phone: '15550100',
  provider: 'email',
  provider_id: id,
  factor_type: 'totp',
  friendly_name: 'My phone',
  url: 'https://app.example.com/',
  redirect_to: 'https://app.example.com/',
  action_link: 'https://auth.example.com/verify?token=5f2c&type=magiclink',
  email_otp: '123456',
  verification_type: 'magiclink',
  user_agent: 'Mozilla/5.0',
  ip: '192.0.2.1',
  kid: id,
  version: '1.0.0',
  name: 'Postern',
}

const rejected = { code: 400, error_code: 'validation_failed', msg: 'An email address is required' }
const failed = {
  code: 500,
  error_code: 'unexpected_failure',
  error_id: id,
  msg: 'Unexpected failure, please check server logs for more information',
}

/** Changes the document in place. */
export function addResponseExamples(document: { paths?: object; components?: object }): void {
  const schemas =
    'schemas' in Object(document.components) ? Object(document.components).schemas : {}
  const methods = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path))
  for (const { responses } of methods.filter(isRecord)) {
    for (const [status, response] of Object.entries(Object(responses))) {
      const media = Object(response).content?.['application/json']
      if (!isRecord(media)) continue
      const isError = Object(media.schema).$ref === '#/components/schemas/Error'
      const error = status.startsWith('5') ? failed : rejected
      media.example = isError ? error : createExample(media.schema, schemas)
    }
  }
}

/** A value that the schema allows, with the optional properties whose values are known. */
function createExample(schema: unknown, schemas: Json, name = ''): unknown {
  if (!isRecord(schema)) return null
  const { $ref, const: only, enum: choices, anyOf, items, properties, pattern } = schema
  if (typeof $ref === 'string') {
    return createExample(schemas[$ref.split('/').at(-1) ?? ''], schemas, name)
  }
  if (only !== undefined) return only
  if (Array.isArray(choices)) return choices[0]
  if (Array.isArray(anyOf)) return createExample(anyOf[0], schemas, name)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'array') return [createExample(items, schemas, name)]
  if (type === 'object') return exampleOfObject(schema, properties, schemas)
  if (schema.format === 'date-time') return time
  if (schema.format === 'uuid') return id
  if (isOfType(known[name], type) && pattern === undefined) return known[name]
  return plain[String(type)] ?? null
}

const plain: Json = { string: 'text', integer: 1, number: 1, boolean: false }

function exampleOfObject(schema: Json, properties: unknown, schemas: Json): Json {
  const required = Array.isArray(schema.required) ? schema.required : []
  const entries = Object.entries(Object(properties)).filter(
    ([name]) => required.includes(name) || name in known,
  )
  return Object.fromEntries(
    entries.map(([name, property]) => [name, createExample(property, schemas, name)]),
  )
}

function isOfType(value: unknown, type: unknown): boolean {
  return typeof value === (type === 'integer' ? 'number' : type)
}
