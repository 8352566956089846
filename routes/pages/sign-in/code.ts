/** The page for a code that was sent, and the requests that send one. */
import type { FastifyInstance, FastifyReply } from 'fastify'

import {
  type ApiResponse,
  type Exchange,
  parseIdentifier,
  sendPage,
  textIn,
} from '../../../modules/pages/index.ts'

/** What the code was sent for. */
type Purpose = 'sign_in' | 'sign_up' | 'recovery'

/** The code as it was requested. */
interface SentCode {
  purpose: Purpose
  /** An email address, for a recovery also a username. */
  email?: string | undefined
  phone?: string | undefined
  next: string
}

/** Whether there may be a code: it was sent, or another one was sent a moment ago. */
export function mayHaveCode({ status, body }: ApiResponse): boolean {
  const code = textIn({ body }, 'error_code') ?? ''
  // Where sign-up is disabled, the response is the same for an unknown address.
  return status < 400 || code === 'otp_disabled' || tooSoon.includes(code)
}

/** Shows the page after the response to the request for the code. */
export function showSentCode(
  app: FastifyInstance,
  exchange: Exchange,
  sent: SentCode,
  response: ApiResponse,
): FastifyReply {
  const isTooSoon = tooSoon.includes(textIn(response, 'error_code') ?? '')
  return showCodeForm(app, exchange, sent, isTooSoon ? 'sent_recently' : undefined)
}

const tooSoon = ['over_email_send_rate_limit', 'over_sms_send_rate_limit']

export function showCodeForm(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { purpose, email = '', phone = '', next }: SentCode,
  error?: string,
): FastifyReply {
  return sendPage(app, request, reply, 'code', {
    title: (say) => say(purpose === 'sign_in' ? 'code_title' : 'mail_title'),
    next,
    error,
    status: error ? 400 : 200,
    data: () => ({ purpose, email, phone }),
  })
}

type Fields = Readonly<Record<string, string>>

/** The code as the page names it in its hidden fields. */
export function readSentCode({ purpose, email, phone }: Fields, next: string): SentCode {
  const known = purposes.find((name) => name === purpose) ?? 'sign_in'
  return { purpose: known, email, phone, next }
}

const purposes: readonly Purpose[] = ['sign_in', 'sign_up', 'recovery']

/** The API call that verifies the code. */
export function verification(app: FastifyInstance, sent: SentCode, code = '') {
  const { purpose, email, phone } = sent
  const address = phone ? { phone, type: 'sms' } : { email, type: 'email' }
  const typed =
    purpose === 'recovery' ? { ...parseIdentifier(app, email), type: 'recovery' } : address
  return { url: '/verify', payload: { ...typed, token: code.trim() } } as const
}

/** After a recovery the user chooses a password. */
export const pageAfter = ({ purpose, next }: SentCode): string =>
  purpose === 'recovery' ? `/sign-in/password?next=${encodeURIComponent(next)}` : next
