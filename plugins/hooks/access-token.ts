/** CUSTOM_ACCESS_TOKEN: the operator's claims in every token of a person. */
import { TypeCompiler } from '@sinclair/typebox/compiler'

import { hookAnswerUnreadable } from '../../errors.ts'
import { type AccessToken, HookClaims } from '../../schemas/access-token.ts'
import type { HookCaller } from './caller.ts'

export interface ClaimsQuestion {
  claims: AccessToken
  /** How the session came about; `token_refresh` when it goes on. */
  method: string
  ip: string | null
}

const claimsCheck = TypeCompiler.Compile(HookClaims)

/**
 * Resolves to the claims of the answer, which take the place of ours. Two stay whatever the hook says: `iss`, without
 * which we would not know the token again, and `act`, without which an admin in a person's place would pass for the
 * person. Throws HookError.
 */
export function customizeAccessToken(call: HookCaller) {
  return async ({ claims, method, ip }: ClaimsQuestion): Promise<HookClaims> => {
    const question = { user_id: claims.sub, claims, authentication_method: method }
    const { claims: changed } = await call(question, { ip })
    if (changed === undefined || changed === null) {
      throw hookAnswerUnreadable('The custom access token hook answered without claims')
    }
    if (!claimsCheck.Check(changed)) throw wrongClaim(changed)
    if (changed.iss !== undefined && changed.iss !== claims.iss) throw foreignIssuer()
    return { ...changed, iss: claims.iss, ...(claims.act && { act: claims.act }) }
  }
}

const foreignIssuer = () =>
  hookAnswerUnreadable(
    'The custom access token hook answered with another iss: set AUTH_JWT_ISSUER for that',
  )

function wrongClaim(claims: unknown) {
  const path = claimsCheck.Errors(claims).First()?.path.slice(1).replaceAll('/', '.')
  const what = path ? `without the claim ${path}, or with one of the wrong type` : 'without claims'
  return hookAnswerUnreadable(`The custom access token hook answered ${what}`)
}
