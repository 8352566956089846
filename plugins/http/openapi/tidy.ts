/** Completes the output of @fastify/swagger: shared schemas under components, and named responses. */
import { STATUS_CODES } from 'node:http'

import { isRecord } from '../../../schemas/values/record.ts'

type Json = { [key: string]: unknown }

const failures: Record<string, string> = {
  '4XX': 'The request is rejected',
  '5XX': 'The server cannot handle the request',
}

/** Moves every titled schema to components and replaces it with a reference. */
export function hoistTitled<T extends object>(document: T): T {
  const schemas: Json = {}
  const paths = 'paths' in document ? replaceTitled(document.paths, schemas) : {}
  const webhooks = 'webhooks' in document ? replaceTitled(document.webhooks, schemas) : {}
  const components = 'components' in document ? document.components : {}
  return { ...document, paths, webhooks, components: { ...Object(components), schemas } }
}

function replaceTitled(node: unknown, schemas: Json): unknown {
  if (Array.isArray(node)) return node.map((entry) => replaceTitled(entry, schemas))
  if (!isRecord(node)) return node
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, replaceTitled(value, schemas)]),
  )
  const { title } = copy
  if (typeof title !== 'string' || !('type' in copy || 'anyOf' in copy)) return copy
  const known = schemas[title]
  // Two different schemas with the same title: the second stays inline.
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy)) return copy
  schemas[title] = copy
  return { $ref: `#/components/schemas/${title}` }
}

/** Replaces "Default Response"; operations that only redirect get a response for other statuses. */
export function nameResponses(document: { paths?: object }): void {
  const methods = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path))
  for (const method of methods.filter(isRecord)) {
    for (const [status, response] of Object.entries(method.responses ?? {})) {
      if (!isRecord(response) || response.description !== 'Default Response') continue
      response.description = failures[status] ?? STATUS_CODES[status] ?? status
    }
    addDefault(method)
  }
}

/** Generators expect a 2XX or a `default` response. */
function addDefault({ responses }: Json): void {
  if (!isRecord(responses)) return
  const hasSuccess = Object.keys(responses).some((status) => status.startsWith('2'))
  const rejected = responses['4XX']
  if (hasSuccess || !isRecord(rejected)) return
  responses.default = { ...rejected, description: 'Any other response' }
}
