/** Hook responses: an object, which may contain an error for the client. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { hookRejected, hookResponseInvalid } from '../../../schemas/errors.ts'
import { isRecord } from '../../../schemas/values/record.ts'

const ErrorAnswer = Type.Object({
  error: Type.Object({
    http_code: Type.Optional(Type.Unknown()),
    message: Type.Optional(Type.Unknown()),
  }),
})

/** Throws HookError for a response that contains an error, or is not an object. */
export function parseHookResponse(answer: unknown): Record<string, unknown> {
  if (answer === undefined || answer === null) return {}
  if (!isRecord(answer)) throw hookResponseInvalid('A hook returned JSON that is no object')
  if (Value.Check(ErrorAnswer, answer)) throwHookError(answer.error)
  return answer
}

/** An error without a message or status does not count: receivers send empty fields on success. */
function throwHookError({ http_code, message }: { http_code?: unknown; message?: unknown }): void {
  const isStatus =
    Number.isInteger(http_code) && Number(http_code) >= 400 && Number(http_code) < 600
  const text = typeof message === 'string' ? message : ''
  if (text === '' && !isStatus) return
  throw hookRejected(isStatus ? Number(http_code) : 500, text || 'A hook rejected this request')
}
