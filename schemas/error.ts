import { Type } from '@sinclair/typebox'

import { errorCodes } from './values/error-codes.ts'

// Two types without a union: the serializer would validate each response against a union.
const Code = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  description: 'HTTP status; the error code from API version 2024-01-01 on',
})

/** An open list: a client must expect codes of later versions. */
const ErrorCode = Type.String({
  title: 'ErrorCode',
  description: 'docs/errors.md explains each code. Later versions may add codes.',
  'x-extensible-enum': errorCodes,
})

/** The error body. A client that sends X-Supabase-Api-Version 2024-01-01 or later gets `{code, message}`. */
export const ErrorBody = Type.Object(
  {
    code: Code,
    error_code: Type.Optional(ErrorCode),
    msg: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    error_id: Type.Optional(Type.String({ description: 'Request id, on server faults' })),
    weak_password: Type.Optional(Type.Object({ reasons: Type.Array(Type.String()) })),
    error: Type.Optional(Type.String()),
    error_description: Type.Optional(Type.String()),
  },
  { title: 'Error' },
)

/** The error responses of every route. */
export const ErrorResponses = { '4xx': ErrorBody, '5xx': ErrorBody }
