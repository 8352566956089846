/**
 * Protection against cross-site request forgery: by the origin that the browser reports (Fetch Metadata, Origin), and
 * by a token bound to the cookie.
 */
import { createHmac, randomBytes } from 'node:crypto'

import type { FastifyInstance, FastifyRequest } from 'fastify'

import { crossSiteForm } from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import { browserId } from './cookie.ts'

const purpose = 'forms of hosted pages'

/** A token for the forms of one page: a random value that is different on each page, and its HMAC with the cookie. */
export function formToken(app: FastifyInstance, cookie: string): string {
  const page = randomBytes(16).toString('base64url')
  return `${page}.${sign(app, cookie, page)}`
}

/** Throws validation_failed for a form that was not submitted from our pages. */
export function checkForm(app: FastifyInstance, request: FastifyRequest, token: unknown): void {
  checkSite(app, request)
  if (!isTokenOfBrowser(app, request, token)) throw crossSiteForm()
}

/** Throws validation_failed for a form of another site. Without these headers only the token counts. */
export function checkSite({ config }: FastifyInstance, { headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') throw crossSiteForm()
  const { origin } = headers
  // With `Referrer-Policy: no-referrer`, browsers send same-site forms with the origin null.
  if (origin === undefined || origin === 'null') return
  if (origin !== new URL(config.AUTH_API_EXTERNAL_URL).origin) throw crossSiteForm()
}

/** Whether the token is of a page that this browser received with its current cookie. */
export function isTokenOfBrowser(
  app: FastifyInstance,
  request: FastifyRequest,
  token: unknown,
): boolean {
  const cookie = browserId(app, request)
  if (cookie === undefined) return false
  const [page = '', signature = ''] = String(token).split('.')
  return isEqualInConstantTime(signature, sign(app, cookie, page))
}

function sign({ encryption }: FastifyInstance, cookie: string, page: string): string {
  const hmac = createHmac('sha256', encryption.deriveKey(purpose))
  return hmac.update(`${page}.${cookie}`).digest('base64url')
}
