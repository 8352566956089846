/** The bodies of webhooks by the API document, without additional fields. */
import { readFileSync } from 'node:fs'

import AjvCompiler from '@fastify/ajv-compiler'

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  patternProperties?: unknown
}

interface Described {
  components: { schemas: Record<string, Schema> }
  webhooks: Record<
    string,
    { post: { requestBody: { content: { 'application/json': { schema: Schema } } } } }
  >
}

/** That it is today's, test/plugins/http/openapi.test.ts shows. */
const file = new URL('../../../docs/openapi.json', import.meta.url)
const { components, webhooks }: Described = JSON.parse(readFileSync(file, 'utf8'))

const compile = AjvCompiler()(
  {},
  {
    customOptions: {
      coerceTypes: false,
      useDefaults: false,
      removeAdditional: false,
      strict: false,
    },
  },
)

export const describedTypes = Object.keys(webhooks)

const checks = new Map(
  Object.entries(webhooks).map(([type, { post }]) => {
    const { schema } = post.requestBody.content['application/json']
    return [type, compile({ schema: closed(schema), method: 'POST', url: type, httpPart: 'body' })]
  }),
)

/** The deviation of a body from its schema; undefined when it is valid. */
export function findBodyError(body: string): string | undefined {
  const event: unknown = JSON.parse(body)
  const { type }: { type?: unknown } = Object(event)
  const check = checks.get(String(type))
  if (!check) return `${type} is not in the API document: ${body}`
  if (check(event) === true) return undefined
  const [error] = check.errors ?? []
  return `${type}: ${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}: ${body}`
}

/** Undescribed fields are errors as well. Components are inserted. */
function closed({ $ref, properties, ...schema }: Schema): Schema {
  const name = $ref?.replace('#/components/schemas/', '')
  if (name !== undefined) return closed(components.schemas[name] ?? {})
  if (!properties) return schema
  const all = Object.entries(properties).map(([name, property]) => [name, closed(property)])
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(all) }
}
