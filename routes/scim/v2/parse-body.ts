import type { FastifyRequest } from 'fastify'

import { isPostgresValue } from '../../../plugins/http/body-parser/storable.ts'
import { scimRejected } from '../../../schemas/errors.ts'
import { isRecord } from '../../../schemas/values/record.ts'

/** Names keep their case, and null is kept: both are significant in a resource. A route without a body ignores one. */
export function parseScimBody(
  request: FastifyRequest,
  text: string | Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  const isRead = request.routeOptions.schema?.body !== undefined
  const body = isRead ? readObject(text.toString()) : undefined
  const fault = scimRejected(400, 'invalidSyntax', 'The body must be one JSON object')
  done(isRead && !body ? fault : null, body)
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isRecord(body) && isPostgresValue(body) ? body : undefined
  } catch {
    return undefined
  }
}
