/**
 * Protection against cross-site request forgery: by the origin that the browser reports (Fetch Metadata, Origin), and
 * by a token bound to the cookie.
 */
import { createHmac } from 'node:crypto'

import type { FastifyRequest } from 'fastify'

import type { Deps } from '../../plugins/define-plugin.ts'
import { crossSiteForm } from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import { browserId } from './cookie.ts'

type ForgeryDeps = Deps<'config' | 'encryption'>

const purpose = 'forms of hosted pages'

/** The token for the forms of a page, bound to the cookie. */
export function formToken({ encryption }: ForgeryDeps, cookie: string): string {
  return createHmac('sha256', encryption.deriveKey(purpose)).update(cookie).digest('base64url')
}

/** Throws validation_failed for a form that was not submitted from our pages. */
export function checkForm(deps: ForgeryDeps, request: FastifyRequest, token: unknown): void {
  const cookie = browserId(deps, request)
  if (cookie === undefined || !isSameSite(deps, request)) throw crossSiteForm()
  if (!isEqualInConstantTime(String(token), formToken(deps, cookie))) throw crossSiteForm()
}

/** Without these headers only the token counts. */
function isSameSite({ config }: ForgeryDeps, { headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  const { origin } = headers
  // With `Referrer-Policy: no-referrer`, browsers send same-site forms with the origin null.
  if (origin === undefined || origin === 'null') return true
  return origin === new URL(config.AUTH_API_EXTERNAL_URL).origin
}
