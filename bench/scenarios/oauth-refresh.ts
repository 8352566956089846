import { clientCredentials, codeExchange, newClient, newCode } from '../core/oauth-client.ts'
import type { Scenario } from '../core/scenario.ts'
import { signedInUsers } from '../core/users.ts'

/** A client refreshes its tokens; each connection is one session. */
export const oauthRefresh: Scenario = {
  name: 'oauth-refresh',
  async prepare(target, { connections }) {
    const client = await newClient(target)
    const tokens: string[] = []
    for (const user of await signedInUsers(target, connections)) {
      const exchange = codeExchange(client, await newCode(target, client, user))
      tokens.push((await target.call<{ refresh_token: string }>(exchange)).refresh_token)
    }
    return {
      request: (_i, connection) => ({
        method: 'POST',
        path: '/oauth/token',
        body: {
          grant_type: 'refresh_token',
          refresh_token: tokens[connection],
          ...clientCredentials(client),
        },
      }),
      answered(body, connection) {
        tokens[connection] = JSON.parse(body).refresh_token
      },
    }
  },
}
