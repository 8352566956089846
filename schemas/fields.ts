/** Fields of several bodies, and the normalization of emails and phone numbers. */
import { domainToASCII } from 'node:url'

import { Type } from '@sinclair/typebox'

import { choices } from './documented.ts'
import { validationFailed } from './errors.ts'

export const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Free-form JSON object; merged at the top level, null deletes a key',
})

export const Phone = Type.Optional(Type.String({ description: 'E.164' }))

/** The channel of an SMS. */
export const Channel = Type.Optional(Type.String(choices('sms', 'whatsapp')))

/** PKCE fields of endpoints that send emails (RFC 7636 §4.3). */
export const PkceFields = {
  code_challenge: Type.Optional(Type.String()),
  code_challenge_method: Type.Optional(Type.String(choices('s256', 'plain'))),
}

/** Read by the captcha hook; listed for the API document. */
export const CaptchaFields = {
  captcha_token: Type.Optional(Type.String()),
  gotrue_meta_security: Type.Optional(
    Type.Object({ captcha_token: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
  ),
}

export const RedirectQuery = Type.Object({
  redirect_to: Type.Optional(
    Type.String({ description: 'The final redirect target of the email link' }),
  ),
})

/** The local part may have letters, marks and digits of any script (RFC 6531 §3.3). */
const emailPattern =
  /^(?:[a-z0-9.!#$%&'*+/=?^_`{|}~-]|(?=[^\0-\x7f])[\p{L}\p{M}\p{N}])+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/u

/**
 * Normalizes an email: trimmed, NFKC, lower case, the host in ASCII (UTS 46), exactly one @. Addresses are stored and
 * compared in this form only.
 */
export function normalizeEmail(input: string): string {
  const email = foldEmail(input)
  const fault = findEmailError(email)
  if (fault) throw validationFailed(fault)
  return email
}

/** The email of a code. All errors are the one that GoTrue returns here. */
export function normalizeEmailOfCode(input: string): string {
  const email = foldEmail(input)
  if (findEmailError(email)) throw validationFailed('Invalid email format', 422)
  return email
}

function foldEmail(input: string): string {
  const email = input.trim().normalize('NFKC')
  const at = email.lastIndexOf('@')
  if (at < 0) return email.toLowerCase()
  return `${email.slice(0, at).toLowerCase()}@${asciiHost(email.slice(at + 1))}`
}

/** Empty for an invalid host. An ASCII host is not converted: `127.1` would become an IP address. */
function asciiHost(host: string): string {
  return /^[\0-\x7f]*$/.test(host) ? host.toLowerCase() : domainToASCII(host)
}

function findEmailError(email: string): string | undefined {
  if (email === '') return 'An email address is required'
  if (Buffer.byteLength(email) > 255) return 'An email address is too long'
  if (!emailPattern.test(email)) return 'Unable to validate email address: invalid format'
  return undefined
}

/** Returns E.164 digits without the leading +. */
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

/** Validates an id in a path. Throws validation_failed with status 404. */
export function readUuid(name: string, value: string): string {
  if (!isUuid(value)) throw validationFailed(`${name} must be an UUID`, 404)
  // Clients may send upper case (RFC 9562 §4); Postgres never does.
  return value.toLowerCase()
}
