/**
 * Email links and external sign-ins return to /sign-in/callback with a code (RFC 7636). The verifier is derived from
 * the browser's cookie, so that the code is valid in that browser only, and nothing is stored.
 */
import { createHash, createHmac } from 'node:crypto'

import type { Deps } from '../../plugins/define-plugin.ts'

type FlowDeps = Deps<'config' | 'encryption'>

const purpose = 'links of hosted pages'

export function verifierFor({ encryption }: FlowDeps, cookie: string): string {
  return createHmac('sha256', encryption.deriveKey(purpose)).update(cookie).digest('base64url')
}

interface LinkFlow {
  code_challenge: string
  code_challenge_method: 's256'
  redirect_to: string
}

/** The parameters of a request for a link that returns here. */
export function linkFlow(deps: FlowDeps, cookie: string, next: string): LinkFlow {
  const verifier = verifierFor(deps, cookie)
  return {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 's256',
    redirect_to: `${getCallbackUrl(deps)}?next=${encodeURIComponent(next)}`,
  }
}

/** The same for a change that the signed-in user makes: opening the link does not sign another user in. */
export function changeFlow(deps: FlowDeps, cookie: string, next: string): LinkFlow {
  const flow = linkFlow(deps, cookie, next)
  return { ...flow, redirect_to: `${flow.redirect_to}&purpose=change` }
}

/** The callback URL. */
const getCallbackUrl = ({ config }: Deps<'config'>): string =>
  `${config.AUTH_API_EXTERNAL_URL}/sign-in/callback`
