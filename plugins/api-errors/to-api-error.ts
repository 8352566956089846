/** What any thrown value means to a client. */
import type { FastifyError } from 'fastify'

import {
  ApiError,
  badJson,
  databaseBusy,
  databaseUnavailable,
  requestEntityTooLarge,
  requestTimeout,
  serviceUnavailable,
  unexpectedFailure,
  validationFailed,
} from '../../errors.ts'
import { bodyLimit } from '../body-parser/body-limit.ts'
import { DecryptionError } from '../encryption.ts'
import { NotConnected } from '../request-duration/limited-pool.ts'
import { RequestOver } from '../request-duration/time-limit.ts'

export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  if (error instanceof RequestOver) {
    return requestTimeout(error.mayHaveTakenEffect, error.cause ?? error)
  }
  if (error instanceof NotConnected) return databaseUnavailable(error.cause)
  const code = codeOf(error)
  if (isDatabaseGone(error, code)) return databaseUnavailable(error)
  if (busyCodes.has(code)) return databaseBusy(error)
  // While keys are changed, another replica can read it, or this one after its restart.
  if (error instanceof DecryptionError) {
    return serviceUnavailable('Stored data cannot be read here at the moment. Try again.', 5, error)
  }
  if (isInvalid(error)) return fromValidation(error)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return requestEntityTooLarge(bodyLimit)
  if (code === 'FST_ERR_BAD_URL') return validationFailed('The URL is not percent-encoded UTF-8')
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return validationFailed('The URL is too long', 404)
  if (code.startsWith('FST_ERR_CTP')) return badJson('send one JSON object')
  if (code === '22021' || code === '22P05') {
    return validationFailed('Text may hold every character but NUL')
  }
  return unexpectedFailure(
    'Unexpected failure, please check server logs for more information',
    error,
  )
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
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
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN'],
  // A server that is stopping, starting or a replica, and connections that it has ended (SQLSTATE).
  ...['57P01', '57P02', '57P03', '57P04', '57P05', '25P03', '25006'],
])

/** What was undone for taking long, by a limit of the login's or by an operator, or for the sake of another transaction. */
const busyCodes = new Set(['55P03', '57014', '25P04', '40001', '40P01'])

/** Connection failures of node, and a server that is going or coming, or has no disk, memory or connections left (class 53). */
function isDatabaseGone(error: Error, code: string): boolean {
  if (goneCodes.has(code) || /^(08|53)/.test(code)) return true
  return /^Connection terminated|is not queryable$|^timeout exceeded when trying to connect|^Cannot use a pool/.test(
    error.message,
  )
}
