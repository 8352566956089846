/** Field shapes that several bodies share, and the one normal form of addresses. */
import { Type } from '@sinclair/typebox'

import { validationFailed } from '../errors.ts'

export const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Free-form JSON object; merged at the top level, null deletes a key',
})

export const Phone = Type.Optional(Type.String({ description: 'E.164' }))

/** How a text message travels. */
export const Channel = Type.Optional(Type.String({ description: 'sms or whatsapp' }))

/** What every sending endpoint of a PKCE client carries (RFC 7636 §4.3). */
export const PkceFields = {
  code_challenge: Type.Optional(Type.String()),
  code_challenge_method: Type.Optional(Type.String({ description: 's256 or plain' })),
}

/** Read by the captcha hook; stated here so that the API reference shows it. */
export const CaptchaFields = {
  captcha_token: Type.Optional(Type.String()),
  gotrue_meta_security: Type.Optional(
    Type.Object({ captcha_token: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
  ),
}

export const RedirectQuery = Type.Object({
  redirect_to: Type.Optional(
    Type.String({ description: 'Where the link in the mail leads in the end' }),
  ),
})

const emailPattern =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

/** Trimmed, NFKC, lower case, exactly one @: the only form in which an address is stored or compared. */
export function normalizeEmail(input: string): string {
  const email = foldEmail(input)
  const fault = emailFault(email)
  if (fault) throw validationFailed(fault)
  return email
}

/** The address that comes with a code, for every fault of which GoTrue has one answer. */
export function normalizeEmailOfCode(input: string): string {
  const email = foldEmail(input)
  if (emailFault(email)) throw validationFailed('Invalid email format', 422)
  return email
}

function foldEmail(input: string): string {
  return input.trim().normalize('NFKC').toLowerCase()
}

function emailFault(email: string): string | undefined {
  if (email === '') return 'An email address is required'
  if (Buffer.byteLength(email) > 255) return 'An email address is too long'
  if (!emailPattern.test(email)) return 'Unable to validate email address: invalid format'
  return undefined
}

/** E.164 digits without the leading +. */
export function normalizePhone(input: string): string {
  const phone = input.replace(/^\+/, '').replaceAll(' ', '')
  if (!/^[1-9][0-9]{1,14}$/.test(phone)) {
    throw validationFailed('Invalid phone number format (E.164 required)')
  }
  return phone
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(value: string): boolean {
  return uuidPattern.test(value)
}

/** An id that is part of a path: nothing has one of another form. Throws validation_failed with status 404. */
export function readUuid(name: string, value: string): string {
  if (!isUuid(value)) throw validationFailed(`${name} must be an UUID`, 404)
  // Some clients write capitals (RFC 9562 §4 allows them); the database never does.
  return value.toLowerCase()
}
