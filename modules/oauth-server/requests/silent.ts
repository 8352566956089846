/** prompt=none: a response without a page (OpenID Connect Core §3.1.2.6). */
import { jwtVerify } from 'jose'

import {
  closeAuthorization,
  type StoredAuthorization,
} from '../../../db/oauth-server/authorizations.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { type Answering, isConsented, issueCode, openRequest } from './answer.ts'
import { findMissing } from './demands.ts'
import { redirectTo } from './redirect.ts'

type SilentDeps = Deps<'audit' | 'db' | 'jwt'>

const descriptions = {
  login_required: 'The user is not signed in, or not as the request requires',
  consent_required: 'The user has not consented to this request',
  interaction_required: 'A second factor is required',
}

/** The redirect URI with a code, or with the error for what is missing. */
export async function respondSilently(
  deps: SilentDeps,
  stored: StoredAuthorization,
  answering: Answering | undefined,
  now: Date,
): Promise<string> {
  const missing = answering && findMissing(stored, answering)
  const isRequestedUser = answering && (await isHinted(deps, stored, answering.user.id))
  if (!answering || missing === 'sign_in' || !isRequestedUser) {
    return reject(deps, stored, 'login_required')
  }
  if (missing) return reject(deps, stored, 'interaction_required')
  const url = await deps.db.transaction().execute(async (trx) => {
    const opened = await openRequest(trx, stored.authorization_id, answering, now)
    if (!(await isConsented(trx, opened, answering))) return undefined
    return issueCode(deps, trx, opened.request, answering.signIn, now)
  })
  return url ?? reject(deps, stored, 'consent_required')
}

async function reject(
  deps: SilentDeps,
  { id, redirect_uri, state }: StoredAuthorization,
  error: keyof typeof descriptions,
): Promise<string> {
  await deps.db.transaction().execute((trx) => closeAuthorization(trx, id, 'denied'))
  return redirectTo(deps, redirect_uri, { error, error_description: descriptions[error], state })
}

/** Whether the user is that of `id_token_hint`; an expired token is accepted. */
async function isHinted(
  { jwt }: SilentDeps,
  { parameters }: StoredAuthorization,
  userId: string,
): Promise<boolean> {
  const hint = parameters?.id_token_hint
  return hint === undefined || (await readIdTokenSubject({ jwt }, hint)) === userId
}

/** The user of an ID token issued by this server, expired or not. */
export async function readIdTokenSubject(
  { jwt }: Deps<'jwt'>,
  idToken: string,
): Promise<string | undefined> {
  try {
    const { payload } = await jwtVerify(
      idToken,
      ({ kid, alg }) => {
        const key = jwt.keys.ring.find(kid, alg, new Date())
        if (!key || key.alg !== alg) throw new Error('the key is unknown')
        return key.key
      },
      { issuer: jwt.issuer, currentDate: new Date(0) },
    )
    return payload.sub
  } catch {
    return undefined
  }
}
