import type { FastifyRequest } from 'fastify'

import { validationFailed } from '../../../errors.ts'
import type { Proof } from '../../../plugins/accounts/credentials/verification.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import { normalizeEmailOfCode, normalizePhone } from '../../../schemas/fields.ts'
import type { VerifyBody } from '../../../schemas/verify.ts'

/** A proof as it was typed. */
export type Offer =
  | Exclude<Proof, { phone: string }>
  | { type: string; phone: string; aud: string; code: string }

/** Codes are short and made of digits. */
const isLinkToken = (token: string) => /^(?:[0-9a-f]{56}$|[0-9a-f]{64}$|pkce_)/.test(token)

/** Which proof the body offers. Throws validation_failed for none or more than one. */
export function readOffer(
  { credentials }: House<'credentials'>,
  body: VerifyBody,
  aud: string,
): Offer {
  const { type, token, token_hash, email, phone } = body
  if (!type) throw validationFailed('Verify requires a verification type')
  if (!token === !token_hash) {
    throw validationFailed('Verify requires either a token or a token hash')
  }
  if (token_hash && (email || phone)) {
    throw validationFailed('Only the token_hash and type should be provided')
  }
  const code = (token ?? '').trim()
  if (token_hash || (!email && !phone && isLinkToken(code))) {
    if (!credentials.isType(type)) throw validationFailed('Unsupported verification type')
    return { type, linkToken: token_hash || code }
  }
  if (!email === !phone) {
    throw validationFailed('Verify requires either an email or a phone number')
  }
  if (phone) return { type, phone: normalizePhone(phone), aud, code }
  const address = normalizeEmailOfCode(email ?? '')
  if (isLinkToken(code)) return { type, linkToken: code, email: address, aud }
  return { type, email: address, aud, code }
}

/** A code is guessed at by its address; the token of a link is too long for that. */
export function guessIn(offer: Offer, { client }: FastifyRequest) {
  if ('linkToken' in offer) return undefined
  const kind = 'code' as const
  const { aud } = offer
  if ('email' in offer) {
    return { kind, account: offer.email, device: { email: offer.email, aud, client } }
  }
  return { kind, account: offer.phone, device: { phone: offer.phone, aud, client } }
}
