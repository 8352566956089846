import type { Scenario } from '../core/scenario.ts'
import { signedInUsers } from '../core/users.ts'

/** Each connection is one session: the refresh token of each response is used by the next request. */
export const refresh: Scenario = {
  name: 'refresh',
  async prepare(target, { connections }) {
    const tokens = (await signedInUsers(target, connections)).map((user) => user.refresh_token)
    return {
      request: (_i, connection) => ({
        method: 'POST',
        path: '/token?grant_type=refresh_token',
        body: { refresh_token: tokens[connection] },
      }),
      answered(body, connection) {
        tokens[connection] = JSON.parse(body).refresh_token
      },
    }
  },
}
