import { Secret, TOTP } from 'otpauth'

import { type SignedInPerson, signedInPeople } from '../people.ts'
import type { Scenario } from '../scenario.ts'
import type { Target } from '../target.ts'

interface Waiting {
  factorId: string
  challengeId: string
  secret: Secret
  token: string
}

/** The code of an authenticator app raises a session to aal2. Everybody has a factor and a challenge, which is spent. */
export const totpVerify: Scenario = {
  name: 'totp-verify',
  async prepare(target, { stock }) {
    const people = await signedInPeople(target, stock)
    const waiting = await Promise.all(people.map((person) => challenge(target, person)))
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

async function challenge(target: Target, { access_token: token }: SignedInPerson) {
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
