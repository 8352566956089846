import { Secret, TOTP } from 'otpauth'

import type { Scenario } from '../core/scenario.ts'
import type { Target } from '../core/target.ts'
import { type SignedInUser, signedInUsers } from '../core/users.ts'

interface Waiting {
  factorId: string
  challengeId: string
  secret: Secret
  token: string
}

/** A TOTP code steps a session up to aal2. Each user has a factor and a single-use challenge. */
export const totpVerify: Scenario = {
  name: 'totp-verify',
  async prepare(target, { stock }) {
    const users = await signedInUsers(target, stock)
    const waiting = await Promise.all(users.map((user) => challenge(target, user)))
    return {
      stock,
      request(i) {
        const one = waiting[i]
        const code = one && new TOTP({ secret: one.secret }).generate()
        return {
          method: 'POST',
          path: `/factors/${one?.factorId}/verify`,
          token: one?.token ?? '',
          body: { challenge_id: one?.challengeId, code },
        }
      },
    }
  },
}

async function challenge(target: Target, { access_token: token }: SignedInUser) {
  const { id: factorId, totp } = await target.call<{ id: string; totp: { secret: string } }>({
    method: 'POST',
    path: '/factors',
    token,
    body: { factor_type: 'totp' },
  })
  const { id: challengeId } = await target.call<{ id: string }>({
    method: 'POST',
    path: `/factors/${factorId}/challenge`,
    token,
    body: {},
  })
  const made: Waiting = { factorId, challengeId, secret: Secret.fromBase32(totp.secret), token }
  return made
}
