import { codeExchange, newClient, newCode } from '../core/oauth-client.ts'
import type { Scenario } from '../core/scenario.ts'
import { signedInUsers } from '../core/users.ts'

/** A client requests the user's claims. One session per connection. */
export const oauthUserinfo: Scenario = {
  name: 'oauth-userinfo',
  async prepare(target, { connections }) {
    const client = await newClient(target)
    const tokens: string[] = []
    for (const user of await signedInUsers(target, connections)) {
      const exchange = codeExchange(client, await newCode(target, client, user))
      tokens.push((await target.call<{ access_token: string }>(exchange)).access_token)
    }
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: '/oauth/userinfo',
        token: tokens[connection] ?? '',
      }),
    }
  },
}
