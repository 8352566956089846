/** What a hook says: an object, which may hold an error for the client. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { hookAnswerUnreadable, hookRefused } from '../../errors.ts'
import { isRecord } from '../../schemas/record.ts'

const ErrorAnswer = Type.Object({
  error: Type.Object({
    http_code: Type.Optional(Type.Unknown()),
    message: Type.Optional(Type.Unknown()),
  }),
})

/** Throws HookError for an answer that holds an error, or is no object. */
export function readAnswer(answer: unknown): Record<string, unknown> {
  if (answer === undefined || answer === null) return {}
  if (!isRecord(answer)) throw hookAnswerUnreadable('A hook answered with JSON that is no object')
  if (Value.Check(ErrorAnswer, answer)) refuse(answer.error)
  return answer
}

/** An error that names neither a message nor a status of its own is none: receivers fill in empty ones when all is well. */
function refuse({ http_code, message }: { http_code?: unknown; message?: unknown }): void {
  const isStatus =
    Number.isInteger(http_code) && Number(http_code) >= 400 && Number(http_code) < 600
  const text = typeof message === 'string' ? message : ''
  if (text === '' && !isStatus) return
  throw hookRefused(isStatus ? Number(http_code) : 500, text || 'A hook refused this request')
}
