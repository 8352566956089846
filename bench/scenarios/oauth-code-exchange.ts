import { codeExchange, newClient, newCode } from '../core/oauth-client.ts'
import type { Scenario } from '../core/scenario.ts'
import { signedInUsers } from '../core/users.ts'

/** Number of codes created concurrently. */
const width = 8

/** A client exchanges a code for a session, tokens and an ID token. Each code is single-use. */
export const oauthCodeExchange: Scenario = {
  name: 'oauth-code-exchange',
  async prepare(target, { stock }) {
    const client = await newClient(target)
    const users = await signedInUsers(target, width)
    // A user's consents are one row, so each user is prepared sequentially.
    const made = await Promise.all(
      users.map(async (user, at) => {
        const codes = []
        for (let i = at; i < stock; i += width) codes.push(await newCode(target, client, user))
        return codes
      }),
    )
    const codes = made.flat()
    return {
      stock: codes.length,
      request: (i) => codeExchange(client, codes[i] ?? { code: '', verifier: '' }),
    }
  },
}
