import type { Scenario } from '../core/scenario.ts'
import type { Target } from '../core/target.ts'
import { type BenchUser, bulkUsers } from '../core/users.ts'

/** A magic link creates a session. The links come from the admin endpoint, one per user. */
export const verify: Scenario = {
  name: 'verify',
  async prepare(target, { stock }) {
    const token = target.adminToken()
    const users = await bulkUsers(target, stock)
    const hashes = await Promise.all(users.map((user) => generateLink(target, token, user)))
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

async function generateLink(target: Target, token: string, { email }: BenchUser): Promise<string> {
  const link = await target.call<{ hashed_token: string }>({
    method: 'POST',
    path: '/admin/generate_link',
    token,
    body: { type: 'magiclink', email },
  })
  return link.hashed_token
}
