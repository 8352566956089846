import { Type } from '@sinclair/typebox'

// Two types and no union: for a union, a validator would run at every refusal.
const Code = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  description: 'HTTP status; the error code from API version 2024-01-01 on',
})

/** The error body; a client that sends X-Supabase-Api-Version 2024-01-01 or later gets `{code, message}`. */
export const ErrorBody = Type.Object(
  {
    code: Code,
    error_code: Type.Optional(Type.String()),
    msg: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    error_id: Type.Optional(Type.String({ description: 'Request id, on server faults' })),
    weak_password: Type.Optional(Type.Object({ reasons: Type.Array(Type.String()) })),
    error: Type.Optional(Type.String()),
    error_description: Type.Optional(Type.String()),
  },
  { title: 'Error' },
)

/** Every route answers errors in this shape. */
export const ErrorResponses = { '4xx': ErrorBody, '5xx': ErrorBody }
