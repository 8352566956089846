import type { Scenario } from '../core/scenario.ts'
import { signedInUsers } from '../core/users.ts'

/** The request of each page of an application. One user per connection. */
export const getUser: Scenario = {
  name: 'get-user',
  async prepare(target, { connections }) {
    const tokens = (await signedInUsers(target, connections)).map((user) => user.access_token)
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: '/user',
        token: tokens[connection] ?? '',
      }),
    }
  },
}
