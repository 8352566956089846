import type { FastifyRequest } from 'fastify'

import { requireLinkType, type TokenVerification } from '../../../modules/credentials/index.ts'
import { isPkceLink } from '../../../modules/otp/index.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { normalizeEmailOfCode, normalizePhone } from '../../../schemas/fields.ts'
import type { VerifyBody } from '../../../schemas/verify.ts'

/** The presented code or token. */
export type Offer =
  | Exclude<TokenVerification, { phone: string }>
  | { type: string; phone: string; aud: string; code: string }

/** Codes are short and numeric. */
const isLinkToken = (token: string) => /^(?:[0-9a-f]{56}$|[0-9a-f]{64}$|pkce_)/.test(token)

/** Reads the code or token of the body. Throws validation_failed for none or more than one. */
export function readOffer(body: VerifyBody, aud: string): Offer {
  const { type, token, token_hash, email, phone } = body
  if (!type) throw validationFailed('Verify requires a verification type')
  if (!token === !token_hash) {
    throw validationFailed('Verify requires either a token or a token hash')
  }
  if (token_hash && (email || phone)) {
    throw validationFailed('Only the token_hash and type should be provided')
  }
  const code = (token ?? '').trim()
  if (isPkceLink(token_hash || code)) {
    throw validationFailed(
      'This token belongs to a PKCE link: open the link, and exchange the code with grant_type=pkce',
    )
  }
  if (token_hash || (!email && !phone && isLinkToken(code))) {
    requireLinkType(type)
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

/** Codes are throttled by identifier; the token of a link is too long to guess. */
export function attemptFrom(offer: Offer, { clientInfo }: FastifyRequest) {
  if ('linkToken' in offer) return undefined
  const kind = 'code' as const
  const { aud } = offer
  if ('email' in offer) {
    return { kind, account: offer.email, device: { email: offer.email, aud, clientInfo } }
  }
  return { kind, account: offer.phone, device: { phone: offer.phone, aud, clientInfo } }
}
