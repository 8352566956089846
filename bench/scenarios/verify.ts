import { type Person, peopleInBulk } from '../people.ts'
import type { Scenario } from '../scenario.ts'
import type { Target } from '../target.ts'

/** A magic link is redeemed for a session. The links come from the admin endpoint, one per person. */
export const verify: Scenario = {
  name: 'verify',
  async prepare(target, { stock }) {
    const token = target.adminToken()
    const people = await peopleInBulk(target, stock)
    const hashes = await Promise.all(people.map((person) => generateLink(target, token, person)))
    return {
      stock,
      request: (i) => ({
        method: 'POST',
        path: '/verify',
        body: { type: 'magiclink', token_hash: hashes[i] },
      }),
    }
  },
}

async function generateLink(target: Target, token: string, { email }: Person): Promise<string> {
  const link = await target.call<{ hashed_token: string }>({
    method: 'POST',
    path: '/admin/generate_link',
    token,
    body: { type: 'magiclink', email },
  })
  return link.hashed_token
}
