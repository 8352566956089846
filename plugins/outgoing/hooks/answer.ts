/** Hook responses: an object, which may contain an error for the client. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { hookRejected, hookResponseInvalid } from '../../../schemas/errors.ts'
import { isRecord } from '../../../schemas/values/record.ts'

const ErrorResponse = Type.Object({
  error: Type.Object({
    http_code: Type.Optional(Type.Unknown()),
    message: Type.Optional(Type.Unknown()),
  }),
})

/** Throws HookError for a response that contains an error, or is not an object. */
export function parseHookResponse(response: unknown): Record<string, unknown> {
  if (response === undefined || response === null) return {}
  if (!isRecord(response)) throw hookResponseInvalid('A hook returned JSON that is no object')
  if (Value.Check(ErrorResponse, response)) throwHookError(response.error)
  return response
}

/** An error without a message or status does not count: receivers send empty fields on success. */
function throwHookError({ http_code, message }: { http_code?: unknown; message?: unknown }): void {
  const isStatus =
    Number.isInteger(http_code) && Number(http_code) >= 400 && Number(http_code) < 600
  const text = typeof message === 'string' ? message : ''
  if (text === '' && !isStatus) return
  throw hookRejected(isStatus ? Number(http_code) : 500, text || 'A hook rejected this request')
}
