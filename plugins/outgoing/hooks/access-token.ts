/** CUSTOM_ACCESS_TOKEN: adds the operator's claims to every user token. */
import { TypeCompiler } from '@sinclair/typebox/compiler'

import { type AccessToken, HookClaims } from '../../../schemas/access-token.ts'
import { hookResponseInvalid } from '../../../schemas/errors.ts'
import type { HookCaller } from './caller.ts'

interface ClaimsHookInput {
  claims: AccessToken
  /** The authentication method of the session; `token_refresh` when it is refreshed. */
  method: string
  ip: string | null
}

const claimsCheck = TypeCompiler.Compile(HookClaims)

/**
 * Resolves to the hook's claims, which replace ours except two: `iss`, without which this server would reject its own
 * token, and `act`, without which an impersonating admin could not be distinguished from the user. Throws HookError.
 */
export function customizeAccessToken(call: HookCaller) {
  return async ({ claims, method, ip }: ClaimsHookInput): Promise<HookClaims> => {
    const question = { user_id: claims.sub, claims, authentication_method: method }
    const { claims: changed } = await call(question, { ip })
    if (changed === undefined || changed === null) {
      throw hookResponseInvalid('The custom access token hook returned no claims')
    }
    if (!claimsCheck.Check(changed)) throw findInvalidClaim(changed)
    if (changed.iss !== undefined && changed.iss !== claims.iss) throw foreignIssuer()
    return { ...changed, iss: claims.iss, ...(claims.act && { act: claims.act }) }
  }
}

const foreignIssuer = () =>
  hookResponseInvalid(
    'The custom access token hook returned another iss: set AUTH_JWT_ISSUER instead',
  )

function findInvalidClaim(claims: unknown) {
  const path = claimsCheck.Errors(claims).First()?.path.slice(1).replaceAll('/', '.')
  const what = path ? `without the claim ${path}, or with one of the wrong type` : 'without claims'
  return hookResponseInvalid(`The custom access token hook returned claims ${what}`)
}
