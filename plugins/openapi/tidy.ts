/** What @fastify/swagger leaves to be done: shared schemas in one place, and responses with a name. */
import { STATUS_CODES } from 'node:http'

import { isRecord } from '../../schemas/record.ts'

type Json = { [key: string]: unknown }

const failures: Record<string, string> = {
  '4XX': 'The request is refused',
  '5XX': 'The server cannot do its part',
}

/** Every schema with a title stands once under components and is referred to from there on. */
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
  // Two shapes under one title: the second stays where it is.
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy)) return copy
  schemas[title] = copy
  return { $ref: `#/components/schemas/${title}` }
}

/** In the place of "Default Response". */
export function nameResponses(document: { paths?: object }): void {
  const methods = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path))
  for (const method of methods.filter(isRecord)) {
    for (const [status, response] of Object.entries(method.responses ?? {})) {
      if (!isRecord(response) || response.description !== 'Default Response') continue
      response.description = failures[status] ?? STATUS_CODES[status] ?? status
    }
  }
}
