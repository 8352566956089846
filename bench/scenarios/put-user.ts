import type { Scenario } from '../core/scenario.ts'
import { signedInUsers } from '../core/users.ts'

/** A change of the user’s metadata, with a different value each time. */
export const putUser: Scenario = {
  name: 'put-user',
  async prepare(target, { connections }) {
    const tokens = (await signedInUsers(target, connections)).map((user) => user.access_token)
    return {
      request: (i, connection) => ({
        method: 'PUT',
        path: '/user',
        token: tokens[connection] ?? '',
        body: { data: { theme: 'dark', visits: i } },
      }),
    }
  },
}
