/** Maps any thrown value to an API error. */
import type { FastifyError } from 'fastify'

import { findFailedFunction } from '../../../db/core/errors.ts'
import {
  ApiError,
  badJson,
  databaseBusy,
  databaseUnavailable,
  notFound,
  requestEntityTooLarge,
  requestTimeout,
  serviceUnavailable,
  unexpectedFailure,
  validationFailed,
} from '../../../schemas/errors.ts'
import { bodyLimit } from '../../../schemas/values/body-limits.ts'
import { NotConnected } from '../../database/driver/index.ts'
import { RequestTimeoutError } from '../../observability/request-context/deadline.ts'
import { DecryptionError } from '../../security/encryption/index.ts'

/** `maxBytes` is the largest body that the route accepts. */
export function toApiError(thrown: unknown, maxBytes = bodyLimit): ApiError {
  if (thrown instanceof ApiError) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  if (error instanceof RequestTimeoutError) {
    return requestTimeout(error.mayHaveTakenEffect, error.cause ?? error)
  }
  if (error instanceof NotConnected) return databaseUnavailable(error.cause)
  const code = getCode(error)
  if (isDatabaseGone(error, code)) return databaseUnavailable(error)
  if (busyCodes.has(code)) return databaseBusy(error)
  const failedFunction = findFailedFunction(error)
  if (failedFunction) return unexpectedFailure(failure, new TriggerFailure(failedFunction, error))
  // During a key rotation another replica may have the key, or this one after its restart.
  if (error instanceof DecryptionError) {
    return serviceUnavailable('Stored data cannot be decrypted at the moment. Try again.', 5, error)
  }
  if (isInvalid(error)) return fromValidation(error)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return requestEntityTooLarge(maxBytes)
  if (code === 'FST_ERR_BAD_URL') return validationFailed('The URL is not percent-encoded UTF-8')
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return validationFailed('The URL is too long', 404)
  if (isWithoutFile(error, code)) return notFound()
  if (code.startsWith('FST_ERR_CTP')) return badJson('send one JSON object')
  if (code === '22021' || code === '22P05') {
    return validationFailed('Text must not contain NUL')
  }
  return unexpectedFailure(failure, error)
}

const failure = 'Unexpected failure, please check server logs for more information'

/** For the log: the trigger belongs to the operator, who would look for the error in this server. */
class TriggerFailure extends Error {
  override name = 'TriggerFailure'

  constructor(failedFunction: string, cause: Error) {
    const message = `A trigger on a table of this server failed in the function ${failedFunction} of another program: ${cause.message}`
    super(message, { cause })
  }
}

function getCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Of @fastify/static: a folder, a path out of the folder, or a condition (Range, If-Match) that the file does not meet. */
function isWithoutFile(error: Error, code: string): boolean {
  if (code.startsWith('FST_STATIC_')) return true
  return 'expose' in error && 'statusCode' in error && Number(error.statusCode) < 500
}

type Invalid = Error & Required<Pick<FastifyError, 'validation'>> & FastifyError

function isInvalid(error: Error): error is Invalid {
  return 'validation' in error && Array.isArray(error.validation)
}

function fromValidation({ validation, validationContext }: Invalid): ApiError {
  const fault = validation[0]
  const field = fault?.instancePath.slice(1).replaceAll('/', '.')
  const what = field ? `field ${field} ${fault?.message}` : (fault?.message ?? 'wrong shape')
  if (validationContext === 'params') return validationFailed(`${field} must be an UUID`, 404)
  const inBody = validationContext === 'body'
  return inBody && fault?.keyword === 'type' ? badJson(what) : validationFailed(what)
}

const goneCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  // SQLSTATEs of a server that is stopping, starting or a replica, and of connections it closed.
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '25P03',
  '25006',
])

/** Rolled back by a timeout, an operator, a serialization failure or a deadlock. */
const busyCodes = new Set(['55P03', '57014', '25P04', '40001', '40P01'])

/**
 * Node's connection errors, and a server that is stopping, starting, or out of disk, memory or connections (class 53).
 */
function isDatabaseGone(error: Error, code: string): boolean {
  if (goneCodes.has(code) || /^(08|53)/.test(code)) return true
  return /^Connection terminated|is not queryable$|^timeout exceeded when trying to connect|^Cannot use a pool/.test(
    error.message,
  )
}
